// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>
#include <tightloop/optim/optimizer.h>

#include <concepts>
#include <memory>
#include <vector>

namespace tightloop::optim {

/// An optimizer with its memory, for a training loop written by hand:
///
///     optim::State adam(optim::Adam({.lr = 1e-3}), net.variables());
///     auto both = value_and_grad(loss_of, net.variables());
///     auto step = compile([&](Tensor x, Tensor y) {
///       auto [loss, gradients] = both(x, y);
///       adam.update(gradients);
///       return loss;
///     });
class State {
 public:
  template <std::derived_from<Optimizer> Rule>
  State(Rule rule, std::vector<Variable> variables, std::vector<Group> groups = {})
      : State(std::unique_ptr<Optimizer>(std::make_unique<Rule>(std::move(rule))), std::move(variables),
              std::move(groups)) {}
  State(std::unique_ptr<Optimizer> rule, std::vector<Variable> variables, std::vector<Group> groups = {});

  /// One step: assigns new values to the variables, the slots and the step count. `gradients` in the order of
  /// the variables. Throws Error when their number differs.
  void update(const std::vector<Tensor>& gradients);
  /// Steps done, i64[].
  Tensor step() const { return step_.value(); }
  /// Takes effect at the next step, without a new trace; rates of groups move in the same proportion.
  void set_lr(double lr);

  /// Slots by the names of slot_name(), and the step count as "optimizer.step": what a checkpoint needs.
  std::vector<Variable> states() const;

 private:
  std::unique_ptr<Optimizer> rule_;
  std::vector<Variable> variables_;
  std::vector<std::vector<Variable>> slots_;  ///< for each variable, in the order of the rule's slots
  Variable step_, lr_;
};

}  // namespace tightloop::optim
