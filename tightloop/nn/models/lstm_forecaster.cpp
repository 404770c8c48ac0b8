// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/lstm_forecaster.h>

#include <tightloop/nn/layers/recurrent_options.h>
#include <tightloop/nn/models/index.h>

#include <fmt/format.h>

namespace tightloop::nn {

LSTMForecaster::LSTMForecaster(std::int64_t features, LSTMForecasterOptions o)
    : lstm(features, o.hidden_size,
           {.num_layers = o.num_layers, .batch_first = true, .dropout = o.dropout, .last = true}),
      head(o.hidden_size, o.horizon),
      dropout_(o.dropout) {}

std::string LSTMForecaster::describe() const {
  return fmt::format("LSTMForecaster({}, horizon={})", lstm.describe(), head.weight.dims()[0]);
}

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  const auto n = [&](const char* name) { return o.at<std::int64_t>(name); };
  return std::make_unique<LSTMForecaster>(
      layers::features_of_sequence("lstm_forecaster", x),
      LSTMForecasterOptions{n("hidden_size"), n("num_layers"), n("horizon"), o.at<double>("dropout")});
}

}  // namespace

const LayerDef& lstm_forecaster_def() {
  static const LayerDef def{"lstm_forecaster",
                            "an LSTM over [B, T, features] and a linear layer: the next `horizon` numbers",
                            {{"hidden_size", OptionType::integer, std::int64_t{64}},
                             {"num_layers", OptionType::integer, std::int64_t{1}},
                             {"horizon", OptionType::integer, std::int64_t{1}},
                             {"dropout", OptionType::number, 0.0}},
                            build};
  return def;
}

}  // namespace models
}  // namespace tightloop::nn
