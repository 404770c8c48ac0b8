// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/state.h>

#include <tightloop/engine/gradients.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/slot_code.h>

#include <fmt/format.h>

namespace tightloop::optim {
namespace {

Array zeros(const TensorType& type) { return Array(type.dtype, type.shape.values({})); }

std::vector<Tensor> values(const std::vector<Variable>& variables) {
  return {variables.begin(), variables.end()};
}

void check(const StateOptions& options) {
  if (options.schedule == nullptr) return;
  if (options.schedule->plateau() != nullptr)
    throw Error("optimizer: reduce_on_plateau needs the metric of each epoch, which only a Trainer has; " +
                std::string("use set_lr()"));
  if (options.steps < 1)
    throw Error(fmt::format("optimizer: a schedule needs its length, StateOptions::steps, at least 1, not {}",
                            options.steps));
}

}  // namespace

State::State(std::unique_ptr<Optimizer> rule, std::vector<Variable> variables, StateOptions options)
    : rule_(std::move(rule)),
      variables_(std::move(variables)),
      options_(std::move(options)),
      step_(Array::scalar<std::int64_t>(0), options_.name + ".step"),
      lr_(Array::scalar<double>(rule_->lr()), options_.name + ".lr") {
  check(options_);
  for (const Variable& v : variables_) {
    auto& own = slots_.emplace_back();
    for (const auto& [slot, type] : slot_states(*rule_, v.type()))
      own.emplace_back(zeros(type), fmt::format("{}.{}.{}", options_.name, slot, v.name()));
  }
}

Tensor State::rate(const Tensor& step) const {
  if (options_.schedule == nullptr) return lr_.value();
  return options_.schedule->rate(cast(step, DType::f64), rule_->lr(), static_cast<double>(options_.steps));
}

void State::minimize(const Tensor& loss) { update(gradients(loss, variables_)); }

void State::update(const std::vector<Tensor>& gradients) {
  if (gradients.size() != variables_.size())
    throw Error(fmt::format("optimizer: {} gradients for {} variables", gradients.size(), variables_.size()));
  std::vector<Item> items;
  for (std::size_t i = 0; i < variables_.size(); ++i)
    items.push_back({variables_[i].name(), variables_[i].value(), gradients[i],
                     slot_values(*rule_, variables_[i].type(), values(slots_[i]))});
  const Tensor step = step_.value();
  const auto updates = apply(*rule_, items, step, rate(step));
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    // A leaf again: what is computed from it later in the step has no gradient through this update.
    variables_[i].assign(stop_gradient(updates[i].parameter));
    const auto next = slot_codes(*rule_, variables_[i].type(), updates[i].slots,
                                 {scalar(0, DType::i64), step, static_cast<std::int64_t>(i)});
    for (std::size_t s = 0; s < slots_[i].size(); ++s) slots_[i][s].assign(next[s]);
  }
  step_.assign(step + 1.0);
}

void State::set_lr(double lr) {
  if (options_.schedule != nullptr)
    throw Error("optimizer: set_lr() where a schedule gives the rate; leave out one of the two");
  lr_.set(Array::scalar<double>(lr));
}

std::vector<Variable> State::states() const {
  std::vector<Variable> out;
  for (const auto& own : slots_) out.insert(out.end(), own.begin(), own.end());
  out.push_back(step_);
  return out;
}

}  // namespace tightloop::optim
