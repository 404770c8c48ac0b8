// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/nan_guard.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::train {

NanGuard::NanGuard(NanGuardOptions options) : options_(options) {
  if (!(options.factor > 0 && options.factor <= 1))
    throw Error(fmt::format("nan_guard: factor must be above 0 and at most 1, not {}", options.factor));
  if (options.factor == 1 && !options.skip && !options.stop)
    throw Error("nan_guard: a factor of 1 does the same again; take a smaller one, or skip = true");
  if (options.max_rollbacks < 1)
    throw Error(fmt::format("nan_guard: max_rollbacks must be at least 1, not {}", options.max_rollbacks));
  if (options.every_steps < 0)
    throw Error(fmt::format("nan_guard: every_steps must be 0 or greater, not {}", options.every_steps));
  if (!(options.spike.factor >= 0) || !std::isfinite(options.spike.factor))
    throw Error(fmt::format("nan_guard: spike must be 0 or greater, not {}", options.spike.factor));
  if (options.spike.window < 1)
    throw Error(fmt::format("nan_guard: window must be at least 1 step, not {}", options.spike.window));
}

void NanGuard::prepare(UpdateOptions& update) const {
  update.scaled_rate = update.scaled_rate || options_.factor < 1;
  update.spike = options_.spike;
}

std::int64_t NanGuard::pause_after(std::int64_t step) const {
  if (options_.every_steps == 0 || options_.stop) return std::numeric_limits<std::int64_t>::max();
  return (step / options_.every_steps + 1) * options_.every_steps;
}

void NanGuard::start(Run& run) {
  rollbacks_ = 0;
  keep(run);
}

void NanGuard::epoch_start(Run& run) { keep(run); }

void NanGuard::step(Run& run) {
  if (options_.every_steps > 0 && run.step() % options_.every_steps == 0) keep(run);
}

void NanGuard::keep(Run& run) {
  if (options_.stop) return;
  step_ = run.step();
  run.session().copy_to(good_);
}

/// The rate after the rollbacks so far.
void NanGuard::cut(Run& run) const {
  if (options_.factor < 1 && rollbacks_ > 0)
    run.scale_rate("nan_guard", std::pow(options_.factor, static_cast<double>(rollbacks_)));
}

bool NanGuard::recover(Run& run, const NonFinite& e) {
  if (options_.stop || rollbacks_ >= options_.max_rollbacks) return false;
  ++rollbacks_;
  const std::int64_t next = options_.skip ? std::max(e.step(), step_) + 1 : step_;
  run.session().go_to(good_, next);
  cut(run);
  run.note(fmt::format("{}; back to the weights of step {}{}{}", e.what(), step_,
                       options_.skip ? fmt::format(" and on behind step {}", next - 1) : "",
                       options_.factor < 1
                           ? fmt::format(", the rate is {:.6g} of what it was",
                                         std::pow(options_.factor, static_cast<double>(rollbacks_)))
                           : ""));
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
  if (options_.stop) return;
  run.session().copy_to(good_);
  for (std::size_t i = 0; i < good_.size(); ++i) {
    const auto kept = saved.find(fmt::format("good.{}", i));
    if (kept == saved.end() || kept->second.type_string() != good_[i].type_string()) {
      keep(run);
      break;
    }
    good_[i] = kept->second.clone();
  }
  cut(run);
}

const CallbackDef& nan_guard_callback() {
  static const CallbackDef def{
      "nan_guard",
      "when the loss is lost, goes back to the start of the epoch with a smaller rate",
      "factor",
      {{"factor", OptionType::number, 0.5, "of the rate, each time"},
       {"max_rollbacks", OptionType::integer, std::int64_t{3}, "in the whole run"},
       {"action", OptionType::text, std::string("rollback"), "rollback, or stop with the last good weights"},
       {"skip", OptionType::boolean, false, "leave out the batches up to the one that lost the loss"},
       {"every_steps", OptionType::integer, std::int64_t{0}, "states are kept so often; 0: each epoch"},
       {"spike", OptionType::number, 0.0, "a loss so many times its running average above it is lost too"},
       {"window", OptionType::integer, std::int64_t{10}, "steps of that average"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        const std::string& action = o.at<std::string>("action");
        if (action != "rollback" && action != "stop")
          throw Error("nan_guard: action must be 'rollback' or 'stop', not '" + action + "'");
        return std::make_shared<NanGuard>(
            NanGuardOptions{o.at<double>("factor"), o.at<std::int64_t>("max_rollbacks"), action == "stop",
                            o.at<bool>("skip"), o.at<std::int64_t>("every_steps"),
                            SpikeRule{o.at<double>("spike"), o.at<std::int64_t>("window")}});
      }};
  return def;
}

}  // namespace tightloop::train
