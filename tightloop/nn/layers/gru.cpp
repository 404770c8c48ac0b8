// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/gru.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/recurrent_options.h>

namespace tightloop::nn {

GRU::GRU(std::int64_t input, std::int64_t hidden, RecurrentOptions options)
    : Recurrent(RecurrentKind::gru, input, hidden, options) {}

HiddenSequence GRU::operator()(const Tensor& x, const Tensor& h) {
  const Result result = run(x, h.defined() ? std::vector<Tensor>{h} : std::vector<Tensor>{});
  return {result.output, result.finals[0]};
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  return std::make_unique<GRU>(features_of_sequence("gru", x), o.at<std::int64_t>("hidden_size"),
                               recurrent_options(o));
}

}  // namespace

const LayerDef& gru_def() {
  static const LayerDef def{"gru", "gated recurrent units along [B, T, features]", recurrent_specs(), build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
