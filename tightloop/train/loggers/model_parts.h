// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>
#include <tightloop/nn/module.h>
#include <tightloop/train/loggers/logger.h>

#include <vector>

namespace tightloop::train {

/// The layers, free parameters, inputs and the loss of a step's graph (output `loss`), in the order in which
/// they are computed. What is computed between two layers belongs to neither: the second gets its values from
/// the first.
std::vector<ModelPart> model_parts(const ir::Graph& graph, nn::Module& module);

}  // namespace tightloop::train
