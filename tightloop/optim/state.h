// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/optim/schedule.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tightloop::optim {

struct StateOptions {
  /// How its own variables are called: a loop with two optimizers that saves them gives them two names.
  std::string name = "optimizer";
  SchedulePtr schedule = {};  ///< moves the rate, in the graph; its time is the number of updates
  std::int64_t steps = 0;     ///< updates that the schedule lasts
};

/// An optimizer with its memory, for a training loop written by hand:
///
///     optim::State adam(optim::Adam({.lr = 1e-3}), net.variables());
///     auto step = compile([&](Tensor x, Tensor y) {
///       const Tensor loss = nn::mse_loss(net(x), y);
///       adam.minimize(loss);
///       return loss;
///     });
///
/// A loop may have several, each for the variables that it was given.
class State {
 public:
  /// Throws Error for a schedule that has no length, or needs a metric.
  template <std::derived_from<Optimizer> Rule>
  State(Rule rule, std::vector<Variable> variables, StateOptions options = {})
      : State(std::unique_ptr<Optimizer>(std::make_unique<Rule>(std::move(rule))), std::move(variables),
              std::move(options)) {}
  State(std::unique_ptr<Optimizer> rule, std::vector<Variable> variables, StateOptions options = {});

  /// update(gradients(loss, variables)), see engine/gradients.h.
  void minimize(const Tensor& loss);
  /// One step: assigns new values to the variables, the slots and the step count. `gradients` in the order of
  /// the variables. Gradients of what is computed from the new values do not reach back through the update.
  /// Throws Error when their number differs.
  void update(const std::vector<Tensor>& gradients);
  /// Steps done, i64[].
  Tensor step() const { return step_.value(); }
  /// Takes effect at the next step, without a new trace; rates of groups move in the same proportion. Throws
  /// Error where a schedule gives the rate.
  void set_lr(double lr);

  /// Slots as "optimizer.<slot>.<variable>" and the step count as "optimizer.step", with the name of the
  /// options in front: what a checkpoint needs.
  std::vector<Variable> states() const;

 private:
  Tensor rate(const Tensor& step) const;

  std::unique_ptr<Optimizer> rule_;
  std::vector<Variable> variables_;
  StateOptions options_;
  std::vector<std::vector<Variable>> slots_;  ///< for each variable, in the order of the rule's slots
  Variable step_, lr_;
};

}  // namespace tightloop::optim
