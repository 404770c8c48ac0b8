// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/state.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::optim {
namespace {

Array zeros_like(const Variable& v) { return Array(v.type().dtype, v.type().shape.values({})); }

std::vector<Tensor> values(const std::vector<Variable>& variables) {
  return {variables.begin(), variables.end()};
}

}  // namespace

State::State(std::unique_ptr<Optimizer> rule, std::vector<Variable> variables, std::vector<Group> groups)
    : rule_(std::move(rule)),
      variables_(std::move(variables)),
      step_(Array::scalar<std::int64_t>(0), "optimizer.step"),
      lr_(Array::scalar<double>(rule_->lr()), "optimizer.lr") {
  if (!groups.empty()) rule_->set_groups(std::move(groups));
  for (const Variable& v : variables_) {
    auto& own = slots_.emplace_back();
    for (const auto& slot : rule_->slots()) own.emplace_back(zeros_like(v), slot_name(slot, v.name()));
  }
}

void State::update(const std::vector<Tensor>& gradients) {
  if (gradients.size() != variables_.size())
    throw Error(fmt::format("optimizer: {} gradients for {} variables", gradients.size(), variables_.size()));
  std::vector<Item> items;
  for (std::size_t i = 0; i < variables_.size(); ++i)
    items.push_back({variables_[i].name(), variables_[i].value(), gradients[i], values(slots_[i])});
  const Tensor step = step_.value();
  const auto updates = apply(*rule_, items, step, lr_.value());
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    variables_[i].assign(updates[i].parameter);
    for (std::size_t s = 0; s < slots_[i].size(); ++s) slots_[i][s].assign(updates[i].slots[s]);
  }
  step_.assign(step + 1.0);
}

void State::set_lr(double lr) { lr_.set(Array::scalar<double>(lr)); }

std::vector<Variable> State::states() const {
  std::vector<Variable> out;
  for (const auto& own : slots_) out.insert(out.end(), own.begin(), own.end());
  out.push_back(step_);
  return out;
}

}  // namespace tightloop::optim
