// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/rnn.h>

namespace tightloop::nn {

/// Cho et al., 2014, as in torch.nn.GRU: r, z = σ(W_i·x + b_i + W_h·h + b_h), n = tanh(W_in·x + b_in +
/// r·(W_hn·h + b_hn)), h' = (1 - z)·n + z·h. See Recurrent.
class GRU final : public Recurrent {
 public:
  GRU(std::int64_t input, std::int64_t hidden, RecurrentOptions options = {});
  using Recurrent::operator();
  /// From the state h [D·layers, B, H]; empty: zeros.
  HiddenSequence operator()(const Tensor& x, const Tensor& h);
};

}  // namespace tightloop::nn
