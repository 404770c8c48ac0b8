// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/nan_guard.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train {

NanGuard::NanGuard(NanGuardOptions options) : options_(options) {
  if (!(options.factor > 0 && options.factor < 1))
    throw Error(fmt::format("nan_guard: factor must be between 0 and 1, not {}", options.factor));
  if (options.max_rollbacks < 1)
    throw Error(fmt::format("nan_guard: max_rollbacks must be at least 1, not {}", options.max_rollbacks));
}

void NanGuard::start(Run& run) {
  rollbacks_ = 0;
  step_ = run.step();
  good_ = run.session().copy();
}

void NanGuard::epoch_start(Run& run) {
  step_ = run.step();
  good_ = run.session().copy();
}

bool NanGuard::recover(Run& run, const NonFinite& e) {
  if (rollbacks_ >= options_.max_rollbacks) return false;
  ++rollbacks_;
  run.session().go_to(good_, step_);
  const double scale = std::pow(options_.factor, static_cast<double>(rollbacks_));
  run.scale_rate("nan_guard", scale);
  run.note(fmt::format("{}; back to step {}, the rate is {:.6g} of what it was", e.what(), step_, scale));
  return true;
}

Saved NanGuard::save() const {
  Saved out{{"state", Array::of<double>({2}, {static_cast<double>(rollbacks_), static_cast<double>(step_)})}};
  for (std::size_t i = 0; i < good_.size(); ++i) out.emplace(fmt::format("good.{}", i), good_[i]);
  return out;
}

void NanGuard::load(Run& run, const Saved& saved) {
  const auto state = saved.find("state");
  if (state == saved.end() || state->second.count() != 2) return;
  rollbacks_ = static_cast<std::int64_t>(state->second.at(0));
  step_ = static_cast<std::int64_t>(state->second.at(1));
  good_ = run.session().copy();
  for (std::size_t i = 0; i < good_.size(); ++i) {
    const auto kept = saved.find(fmt::format("good.{}", i));
    if (kept == saved.end() || kept->second.type_string() != good_[i].type_string()) {
      step_ = run.step();
      good_ = run.session().copy();
      break;
    }
    good_[i] = kept->second.clone();
  }
  if (rollbacks_ > 0) run.scale_rate("nan_guard", std::pow(options_.factor, static_cast<double>(rollbacks_)));
}

const CallbackDef& nan_guard_callback() {
  static const CallbackDef def{
      "nan_guard",
      "when the loss is lost, goes back to the start of the epoch with a smaller rate",
      "factor",
      {{"factor", OptionType::number, 0.5, "of the rate, each time"},
       {"max_rollbacks", OptionType::integer, std::int64_t{3}, "in the whole run"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        return std::make_shared<NanGuard>(
            NanGuardOptions{o.at<double>("factor"), o.at<std::int64_t>("max_rollbacks")});
      }};
  return def;
}

}  // namespace tightloop::train
