// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

namespace tightloop::train {
namespace {

std::vector<Key> all_keys() {
  std::vector<Key> out{
      {"seed", "starts every random draw of the run", false,
       [](const Value& v, Job& j) { j.seed = keys::whole(v, 0); },
       [](const Job& j) { return Value{j.seed}; }},
  };
  for (auto part : {keys::data_keys, keys::stream_keys, keys::view_keys, keys::model_keys, keys::train_keys,
                    keys::update_keys, keys::run_keys, keys::output_keys}) {
    const std::vector<Key> more = part();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace

std::span<const Key> job_keys() {
  static const std::vector<Key> keys = all_keys();
  return keys;
}

}  // namespace tightloop::train
