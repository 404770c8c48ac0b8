// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/gradients.h>
#include <tightloop/ir/graph.h>

#include <algorithm>

namespace tightloop::detail {

std::vector<Tensor> gradients_by(const Tensor& loss, const std::vector<Variable>& variables) {
  const std::vector<Tensor> now(variables.begin(), variables.end());
  const auto nodes = ir::topological(std::vector<Tensor>{loss});
  const bool depends = std::any_of(nodes.begin(), nodes.end(), [&](const ir::Node* node) {
    return std::any_of(now.begin(), now.end(), [&](const Tensor& v) { return v.id() == node; });
  });
  if (!depends)
    throw Error("gradients: the loss depends on none of the " + std::to_string(variables.size()) +
                " variables as they are now; compute it from them, and after an update of them anew");
  return gradients(loss, now);
}

}  // namespace tightloop::detail
