// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/lstm.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/recurrent_options.h>

namespace tightloop::nn {

LSTM::LSTM(std::int64_t input, std::int64_t hidden, RecurrentOptions options)
    : Recurrent(RecurrentKind::lstm, input, hidden, options) {}

LSTM::Sequence LSTM::operator()(const Tensor& x, const State& state) {
  if (state.h.defined() != state.c.defined()) throw Error("lstm: the initial state needs both h and c");
  const Result result =
      run(x, state.h.defined() ? std::vector<Tensor>{state.h, state.c} : std::vector<Tensor>{});
  return {result.output, {result.finals[0], result.finals[1]}};
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  RecurrentOptions options = recurrent_options(o);
  options.proj_size = o.at<std::int64_t>("proj_size");
  return std::make_unique<LSTM>(features_of_sequence("lstm", x), o.at<std::int64_t>("hidden_size"), options);
}

}  // namespace

const LayerDef& lstm_def() {
  static const LayerDef def{"lstm", "long short-term memory along [B, T, features]",
                            recurrent_specs(OptionSpec{"proj_size", OptionType::integer, std::int64_t{0},
                                                       "size of the projected output"}),
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
