// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

namespace tightloop::train::keys {

std::vector<Key> output_keys() {
  return {
      {"output.directory", "where the run is written", false,
       [](const Value& v, Job& j) { j.output.directory = text(v); },
       [](const Job& j) { return Value{j.output.directory}; }},
      {"output.report", "whether a page about the run is written", false,
       [](const Value& v, Job& j) { j.output.report = flag(v); },
       [](const Job& j) { return Value{j.output.report}; }},
  };
}

}  // namespace tightloop::train::keys
