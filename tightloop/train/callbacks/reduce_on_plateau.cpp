// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/reduce_on_plateau.h>

#include <fmt/format.h>

namespace tightloop::train {

void ReduceOnPlateau::start(Run& run) {
  monitor_.start(run.facts(), "schedule reduce_on_plateau");
  optim::PlateauOptions options = options_;
  if (options.mode_of_metric) options.mode = direction_of(monitor_.metric());
  plateau_ = optim::Plateau(options, run.base_lr());
}

void ReduceOnPlateau::epoch(Run& run, const EpochRecord& record) {
  const auto value = monitor_.value(run, record);
  if (!value) return;
  const double before = plateau_.state().scale, after = plateau_.next(*value);
  if (after == before) return;
  run.scale_rate("reduce_on_plateau", after);
  run.note(fmt::format("epoch {}: {} is on a plateau; the rate falls to {:.6g} of its schedule", record.epoch,
                       monitor_.metric(), after));
}

Saved ReduceOnPlateau::save() const {
  const auto& s = plateau_.state();
  return {{"state", Array::of<double>({4}, {s.best, static_cast<double>(s.bad_epochs),
                                            static_cast<double>(s.cooldown), s.scale})}};
}

void ReduceOnPlateau::load(Run& run, const Saved& saved) {
  const auto found = saved.find("state");
  if (found == saved.end() || found->second.count() != 4) return;
  const Array& s = found->second;
  plateau_.set_state(
      {s.at(0), static_cast<std::int64_t>(s.at(1)), static_cast<std::int64_t>(s.at(2)), s.at(3)});
  run.scale_rate("reduce_on_plateau", s.at(3));
}

}  // namespace tightloop::train
