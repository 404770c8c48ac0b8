// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/model.h>
#include <tightloop/train/step.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

/// A layer, or a parameter outside any layer, as a table of the model shows it.
struct LayerRow {
  std::string path;
  std::string type;    ///< "Linear(784, 256)"
  std::string output;  ///< "[B, 256]"; "" when the layer leaves no trace of its own, as dropout in evaluation
  std::int64_t parameters = 0;  ///< its own and those of the layers in it, each once
  bool frozen = false;          ///< all of them
  int depth = 0;                ///< layers that it lies in
};

/// The modules of a model in their order, each before those in it, with the shapes that a batch has behind
/// them. Throws Error when the model does not fit the data.
std::vector<LayerRow> layers_of(const Model& model, const DataSpec& data);

}  // namespace tightloop::train
