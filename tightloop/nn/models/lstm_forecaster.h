// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/layers/lstm.h>

namespace tightloop::nn {

struct LSTMForecasterOptions {
  std::int64_t hidden_size = 64;
  std::int64_t num_layers = 1;
  std::int64_t horizon = 1;  ///< numbers to forecast
  double dropout = 0;        ///< between the layers and before the head
};

/// An LSTM over x [B, T, features] ("lstm") and a linear layer ("head") from its last state to the next
/// numbers [B, horizon].
class LSTMForecaster final : public Layer {
 public:
  explicit LSTMForecaster(std::int64_t features, LSTMForecasterOptions options = {});
  void fields(Fields& f) override { f("lstm", lstm)("head", head); }
  std::string describe() const override;

  LSTM lstm;
  Linear head;

 protected:
  Tensor forward(const Tensor& x) override { return head(dropout_(lstm(x))); }

 private:
  Dropout dropout_;
};

}  // namespace tightloop::nn
