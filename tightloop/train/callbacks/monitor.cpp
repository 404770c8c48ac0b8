// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/monitor.h>

#include <cmath>
#include <limits>

namespace tightloop::train {

void Monitor::start(const RunFacts& facts, const std::string& who) {
  check(facts, who);
  metric_ = given_.empty() ? facts.usual_metric() : given_;
  lower_ = mode_.value_or(direction_of(metric_)) == optim::Direction::min;
  best_ = std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> Monitor::value(const Run& run, const EpochRecord& record) const {
  return run.value_of(record, metric_);
}

bool Monitor::better(double value) {
  if (std::isnan(value)) return false;
  const bool better = std::isnan(best_) || (lower_ ? value < best_ - min_delta_ : value > best_ + min_delta_);
  if (better) best_ = value;
  return better;
}

}  // namespace tightloop::train
