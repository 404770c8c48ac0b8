// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/early_stopping.h>
#include <tightloop/train/callbacks/index.h>

#include <fmt/format.h>
#include <cmath>
#include <cstring>

namespace tightloop::train {
namespace {

constexpr const char* kWeight = "weight.";

}  // namespace

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), monitor_(options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 1)
    throw Error(fmt::format("early_stopping: patience must be at least 1 epoch, not {}", options_.patience));
  if (!(options_.min_delta >= 0) || !std::isfinite(options_.min_delta))
    throw Error(fmt::format("early_stopping: min_delta must be 0 or greater, not {}", options_.min_delta));
}

void EarlyStopping::start(Run& run) {
  monitor_.start(run.facts(), "early_stopping");
  waited_ = best_epoch_ = 0;
  best_weights_.clear();
}

void EarlyStopping::epoch(Run& run, const EpochRecord& record) {
  const auto value = monitor_.value(run, record);
  if (!value) return;
  if (!monitor_.better(*value)) {
    if (++waited_ >= options_.patience) give_up(run);
    return;
  }
  waited_ = 0;
  best_epoch_ = record.epoch;
  if (options_.restore_best && !run.ends_with_average()) keep(run);
}

/// In the memory of the best weights before, where there are some.
void EarlyStopping::keep(Run& run) {
  for (const auto& [path, array] : run.changing()) {
    const Array value = run.evaluated(path);
    const auto [own, fresh] = best_weights_.try_emplace(path);
    if (!fresh && own->second.dims() == value.dims() && own->second.dtype() == value.dtype())
      std::memcpy(own->second.bytes(), value.bytes(), value.size_bytes());
    else
      own->second = value.clone();
  }
}

void EarlyStopping::give_up(Run& run) {
  run.stop(fmt::format("{} has not improved for {} evaluated epoch{}", monitor_.metric(), waited_,
                       waited_ == 1 ? "" : "s"));
}

void EarlyStopping::weights(Run& run) {
  if (best_weights_.empty() || run.ends_with_average()) return;
  for (auto& [path, array] : run.changing()) {
    const auto best = best_weights_.find(path);
    if (best != best_weights_.end()) std::memcpy(array.bytes(), best->second.bytes(), array.size_bytes());
  }
  if (best_epoch_ != run.epoch())
    run.note(fmt::format("the weights are those of epoch {}, whose {} of {:.6g} was the best", best_epoch_,
                         monitor_.metric(), monitor_.best()));
}

Saved EarlyStopping::save() const {
  Saved out{{"state", Array::of<double>({3}, {monitor_.best(), static_cast<double>(waited_),
                                              static_cast<double>(best_epoch_)})}};
  for (const auto& [path, array] : best_weights_) out.emplace(kWeight + path, array);
  return out;
}

void EarlyStopping::load(Run& run, const Saved& saved) {
  const auto state = saved.find("state");
  if (state == saved.end() || state->second.count() != 3) return;
  monitor_.set_best(state->second.at(0));
  waited_ = static_cast<std::int64_t>(state->second.at(1));
  best_epoch_ = static_cast<std::int64_t>(state->second.at(2));
  for (const auto& [path, array] : run.changing()) {
    const auto best = saved.find(kWeight + path);
    if (best != saved.end() && best->second.dims() == array.dims() && best->second.dtype() == array.dtype())
      best_weights_[path] = best->second.clone();
  }
  if (waited_ >= options_.patience) give_up(run);
}

const CallbackDef& early_stopping_callback() {
  static const CallbackDef def{
      "early_stopping",
      "ends the run when a metric has stopped getting better",
      "patience",
      {{"monitor", OptionType::text, std::string(), "the metric that is watched"},
       {"mode", OptionType::text, {}, "min or max: what is better"},
       {"patience", OptionType::integer, std::int64_t{3}, "evaluated epochs without an improvement"},
       {"min_delta", OptionType::number, 0.0, "an improvement is more than this"},
       {"restore_best", OptionType::boolean, true, "end with the weights of the best epoch"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        return std::make_shared<EarlyStopping>(EarlyStoppingOptions{
            o.at<std::string>("monitor"), mode_of("early_stopping", o), o.at<std::int64_t>("patience"),
            o.at<double>("min_delta"), o.at<bool>("restore_best")});
      }};
  return def;
}

}  // namespace tightloop::train
