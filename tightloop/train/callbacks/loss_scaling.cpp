// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/loss_scaling.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>

namespace tightloop::train {

void LossScaling::measure(Run& run, EpochRecord& record) {
  Program& program = run.session().program();
  record.extra.emplace_back("loss_scale", program.state(kLossScale).at(0));
  record.extra.emplace_back("skipped_updates", program.state(kSkippedUpdates).at(0));
}

void LossScaling::end(Run& run) {
  Program& program = run.session().program();
  const std::int64_t skipped = program.state(std::string(kSkipped) + "0").int_at(0);
  if (skipped == 0) return;
  run.note(fmt::format(
      "loss scale: {} update{} with gradients that are not finite {} skipped; it ended at {}", skipped,
      skipped == 1 ? "" : "s", skipped == 1 ? "was" : "were", program.state(kLossScale).at(0)));
}

}  // namespace tightloop::train
