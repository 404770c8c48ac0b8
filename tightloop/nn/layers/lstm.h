// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/recurrent.h>

namespace tightloop::nn {

/// Hochreiter & Schmidhuber, 1997, with a forget gate, as in torch.nn.LSTM: i, f, g, o of W_ih·x + b_ih +
/// W_hh·h
/// + b_hh, c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c'). See Recurrent.
class LSTM final : public Recurrent {
 public:
  struct State {
    Tensor h = {};  ///< [D·layers, B, H]
    Tensor c = {};  ///< [D·layers, B, hidden]
  };
  struct Sequence {
    Tensor output;  ///< [B, T, D·H], or [T, B, D·H] as x is
    State state;    ///< the last of each layer
  };
  LSTM(std::int64_t input, std::int64_t hidden, RecurrentOptions options = {});
  using Recurrent::operator();
  /// From a state; {}: zeros. Throws Error when only one of its tensors is given.
  Sequence operator()(const Tensor& x, const State& state);
};

}  // namespace tightloop::nn
