// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/run_monitor.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::train {

std::vector<std::string> RunMonitor::measures() const {
  if (!options_.gradient_norm) return {};
  return {"gradient_norm", "gradient_norm_max"};
}

void RunMonitor::start(Run&) {
  momentum_ = std::numeric_limits<double>::quiet_NaN();
  begun_ = false;
}

void RunMonitor::step(Run& run) {
  if (!begun_) epoch_start(run);
  if (run.session().bound().step().graph.output(kMomentum) != nullptr)
    momentum_ = run.session().program().result(kMomentum).at(0);
}

/// An epoch's record may come after a resume, without a step.
Saved RunMonitor::save() const {
  if (std::isnan(momentum_)) return {};
  return {{"momentum", Array::scalar<double>(momentum_)}};
}

void RunMonitor::load(Run&, const Saved& saved) {
  const auto momentum = saved.find("momentum");
  if (momentum != saved.end() && momentum->second.count() == 1) momentum_ = momentum->second.at(0);
}

void RunMonitor::epoch_start(Run& run) {
  begun_ = true;
  step_ = run.step();
  seconds_ = run.seconds();
  waited_ = run.session().bound().waited_s();
}

void RunMonitor::measure(Run& run, EpochRecord& record) {
  if (options_.rate) add_rates(run, record);
  if (options_.throughput && begun_) add_throughput(run, record);
  if (!options_.gradient_norm) return;
  Program& program = run.session().program();
  const double updates = program.state(kUpdates).at(0);
  record.extra.emplace_back("gradient_norm",
                            updates > 0 ? program.state(kGradientNorm).at(0) / updates : 0.0);
  record.extra.emplace_back("gradient_norm_max", program.state(kGradientNormMax).at(0));
}

void RunMonitor::add_rates(Run& run, EpochRecord& record) const {
  const optim::Optimizer& rule = *run.facts().optimizer;
  for (const optim::Group& g : rule.groups()) {
    const double own = (g.lr ? *g.lr : rule.lr()) * g.lr_scale;
    record.extra.emplace_back("lr_" + g.pattern, rule.lr() > 0 ? run.lr() / rule.lr() * own : own);
  }
  if (!std::isnan(momentum_)) record.extra.emplace_back("momentum", momentum_);
}

void RunMonitor::add_throughput(Run& run, EpochRecord& record) {
  const double seconds = std::max(run.seconds() - seconds_, 1e-9);
  record.extra.emplace_back("steps_per_s", static_cast<double>(run.step() - step_) / seconds);
  if (!run.session().bound().part().is_stream()) return;
  record.extra.emplace_back("waited_share", (run.session().bound().waited_s() - waited_) / seconds);
}

const CallbackDef& monitor_callback() {
  static const CallbackDef def{
      "monitor",
      "more about each epoch in metrics.csv",
      "",
      {{"rate", OptionType::boolean, {}, "the rate of each group, and a momentum that moves"},
       {"throughput", OptionType::boolean, {}, "steps a second"},
       {"gradient_norm", OptionType::boolean, {}, "mean and largest norm of the gradients of an update"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        const bool all = !o.has("rate") && !o.has("throughput") && !o.has("gradient_norm");
        const auto on = [&](const char* name) { return all || (o.has(name) && o.at<bool>(name)); };
        return std::make_shared<RunMonitor>(
            RunMonitorOptions{on("rate"), on("throughput"), on("gradient_norm")});
      }};
  return def;
}

}  // namespace tightloop::train
