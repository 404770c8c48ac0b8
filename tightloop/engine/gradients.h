// SPDX-License-Identifier: Apache-2.0
#pragma once
// gradients(loss, wrt) for the rooms above the engine, and by variables.
#include <tightloop/engine/variable.h>
#include <tightloop/passes/differentiate.h>

#include <concepts>
#include <ranges>
#include <vector>

namespace tightloop {

namespace detail {
std::vector<Tensor> gradients_by(const Tensor& loss, const std::vector<Variable>& variables);
}

/// Gradients of `loss`, a scalar, by variables that it was computed from, in their order; a variable that
/// loss does not depend on gets zeros. Throws Error when loss depends on none of the variables as they are
/// now: after an update of them it must be computed anew.
template <std::ranges::input_range Variables>
requires std::convertible_to<std::ranges::range_value_t<Variables>, Variable> std::vector<Tensor> gradients(
    const Tensor& loss, const Variables& variables) {
  std::vector<Variable> list;
  for (const auto& v : variables) list.push_back(v);
  return detail::gradients_by(loss, list);
}

}  // namespace tightloop
