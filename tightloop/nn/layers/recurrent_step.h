// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop::nn {

enum class RecurrentKind : std::uint8_t { rnn_tanh, rnn_relu, lstm, gru };

/// Gates of a kind: 1, 4 (input, forget, cell, output) or 3 (reset, update, new), in PyTorch's order.
std::int64_t gates_of(RecurrentKind kind);
/// "rnn", "lstm", "gru"
const char* name_of(RecurrentKind kind);

/// What a step multiplies its state by.
struct StepWeights {
  Tensor hidden;  ///< [gates·H, P], P = H unless there is a projection
  Tensor bias;    ///< [gates·H] or empty: added to the product, where a kind tells it from the input's (gru)
  Tensor projection;  ///< [P, H] or empty (lstm)
};

/// One step of torch.nn.RNN, LSTM or GRU. `projected` [B, gates·H] is W_ih·x with the biases that are not in
/// `weights`; `state` is {h [B, P]}, for lstm {h [B, P], c [B, H]}. Gives the next state. Every step of a
/// sequence makes the same nodes, so that they can share code.
std::vector<Tensor> recurrent_step(RecurrentKind kind, const Tensor& projected,
                                   const std::vector<Tensor>& state, const StepWeights& weights);

}  // namespace tightloop::nn
