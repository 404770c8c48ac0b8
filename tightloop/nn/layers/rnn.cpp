// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/rnn.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/recurrent_options.h>

namespace tightloop::nn {

RNN::RNN(std::int64_t input, std::int64_t hidden, RecurrentOptions options)
    : Recurrent(
          options.nonlinearity == Nonlinearity::tanh ? RecurrentKind::rnn_tanh : RecurrentKind::rnn_relu,
          input, hidden, options) {}

HiddenSequence RNN::operator()(const Tensor& x, const Tensor& h) {
  const Result result = run(x, h.defined() ? std::vector<Tensor>{h} : std::vector<Tensor>{});
  return {result.output, result.finals[0]};
}

namespace layers {
namespace {

Nonlinearity nonlinearity(const std::string& name) {
  if (name == "tanh") return Nonlinearity::tanh;
  if (name == "relu") return Nonlinearity::relu;
  throw Error("rnn: nonlinearity must be 'tanh' or 'relu', not '" + name + "'");
}

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  RecurrentOptions options = recurrent_options(o);
  options.nonlinearity = nonlinearity(o.at<std::string>("nonlinearity"));
  return std::make_unique<RNN>(features_of_sequence("rnn", x), o.at<std::int64_t>("hidden_size"), options);
}

}  // namespace

const LayerDef& rnn_def() {
  static const LayerDef def{
      "rnn", "tanh or ReLU of input and own last output, step by step along [B, T, features]",
      recurrent_specs(OptionSpec{"nonlinearity", OptionType::text, "tanh", "tanh or relu"}), build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
