// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/identity.h>

#include <tightloop/nn/layers/index.h>

namespace tightloop::nn::layers {
namespace {

std::unique_ptr<Layer> build(const Options&, const TensorType&) { return std::make_unique<Identity>(); }

}  // namespace

const LayerDef& identity_def() {
  static const LayerDef def{"identity", "x", {}, build};
  return def;
}

}  // namespace tightloop::nn::layers
