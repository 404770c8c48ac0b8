// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/stop_at.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train {

StopAt::StopAt(StopAtOptions options)
    : value_(options.value), monitor_(std::move(options.monitor), options.mode) {
  if (std::isnan(value_)) throw Error("stop_at: the value must be a number, not nan");
}

void StopAt::epoch(Run& run, const EpochRecord& record) {
  const auto value = monitor_.value(run, record);
  if (!value || !(monitor_.lower() ? *value <= value_ : *value >= value_)) return;
  run.stop(fmt::format("{} has reached {:.6g}", monitor_.metric(), value_));
}

const CallbackDef& stop_at_callback() {
  static const CallbackDef def{
      "stop_at",
      "ends the run when a metric has reached a value",
      "value",
      {{"value", OptionType::number, {}, "what is to be reached", true},
       {"monitor", OptionType::text, std::string(), "the metric that is watched"},
       {"mode", OptionType::text, {}, "min or max: what is better"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        return std::make_shared<StopAt>(
            StopAtOptions{o.at<double>("value"), o.at<std::string>("monitor"), mode_of("stop_at", o)});
      }};
  return def;
}

}  // namespace tightloop::train
