// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/recurrent.h>

namespace tightloop::nn {

/// A sequence of hidden states and the last of each layer.
struct HiddenSequence {
  Tensor output;  ///< [B, T, D·H], or [T, B, D·H] as x is
  Tensor h;       ///< [D·layers, B, H]
};

/// h_t = tanh(W_ih·x_t + b_ih + W_hh·h_{t-1} + b_hh), or ReLU for tanh. See Recurrent.
class RNN final : public Recurrent {
 public:
  RNN(std::int64_t input, std::int64_t hidden, RecurrentOptions options = {});
  using Recurrent::operator();
  /// From the state h [D·layers, B, H]; empty: zeros.
  HiddenSequence operator()(const Tensor& x, const Tensor& h);
};

}  // namespace tightloop::nn
