// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/scan.h>
#include <tightloop/ops/functions.h>

namespace tightloop::detail {

std::int64_t scan_steps(const std::vector<Tensor>& xs, std::int64_t axis) {
  if (xs.empty()) throw Error("scan: there is no tensor to go through; give a number of steps instead");
  const auto steps_of = [&](const Tensor& x) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank()))
      throw Error("scan: axis " + std::to_string(axis) + " is not one of " + to_string(x.type()));
    return x.dim(static_cast<std::size_t>(axis));
  };
  const Dim steps = steps_of(xs[0]);
  for (const Tensor& x : xs)
    if (steps_of(x) != steps)
      throw Error("scan: all must have as many steps along axis " + std::to_string(axis) + ", " +
                  to_string(xs[0].type()) + " and " + to_string(x.type()) + " came");
  if (!steps.is_static() || steps.is(0))
    throw Error("scan: the number of steps along axis " + std::to_string(axis) +
                " must be known and at least 1, " + to_string(xs[0].type()) + " came");
  return steps.factor;
}

std::vector<Tensor> scan_entries(const std::vector<Tensor>& xs, std::int64_t axis, std::int64_t t) {
  std::vector<Tensor> out;
  for (const Tensor& x : xs) out.push_back(squeeze(slice(x, axis, t, t + 1), axis));
  return out;
}

void check_carry(const std::vector<Tensor>& before, const std::vector<Tensor>& after, std::int64_t step) {
  if (before.size() != after.size())
    throw Error("scan: the carry had " + std::to_string(before.size()) + " tensors, step " +
                std::to_string(step) + " returned " + std::to_string(after.size()));
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i].type() != after[i].type())
      throw Error("scan: the carry must keep its types, step " + std::to_string(step) + " turned " +
                  to_string(before[i].type()) + " into " + to_string(after[i].type()));
}

std::vector<Tensor> scan_results(const std::vector<std::vector<Tensor>>& results, std::int64_t axis) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor>& step : results) {
      if (step.size() != results[0].size())
        throw Error("scan: every step must return as many tensors as the first");
      parts.push_back(step[i]);
    }
    out.push_back(stack(std::move(parts), axis));
  }
  return out;
}

}  // namespace tightloop::detail
