// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/resume.h>
#include <tightloop/train/toml.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace tightloop::train {
namespace {

/// Keys of fixed tables that change no number of a run.
constexpr std::array<std::string_view, 5> kFree{"data.memory", "data.workers", "data.prefetch",
                                                "data.on_error", "model.weights"};

bool is_fixed(std::string_view path) {
  if (std::find(kFree.begin(), kFree.end(), path) != kFree.end()) return false;
  return path == "seed" || path == "train.loss" || path == "train.accumulate" || path == "train.loss_scale" ||
         path == "train.freeze" || path == "train.unfreeze" || path == "train.frozen_norm" ||
         path == "train.limit_batches" || path == "train.overfit_batches" || path.starts_with("data.") ||
         path.starts_with("model.");
}

}  // namespace

std::vector<std::string> changes_on_resume(const Job& before, const Job& now, const std::string& checkpoint) {
  std::vector<std::string> changed, refused;
  for (const Key& key : job_keys()) {
    if (key.path == "output.directory" || key.path == "model.weights") continue;
    const std::string old = write_toml_value(key.write(before)), own = write_toml_value(key.write(now));
    if (old == own) continue;
    const bool other_rule =
        key.path == "train.optimizer" && before.train.optimizer.name != now.train.optimizer.name;
    const bool fixed = is_fixed(key.path) || other_rule;
    (fixed ? refused : changed).push_back(fmt::format("{}: {} instead of {}", key.path, own, old));
  }
  if (!refused.empty())
    throw Error(
        fmt::format("{}: the job has changed in what a run cannot go on with:\n  {}\nChange it back, or "
                    "start anew in another folder (model.weights takes the weights of a checkpoint)",
                    checkpoint, fmt::join(refused, "\n  ")));
  return changed;
}

}  // namespace tightloop::train
