// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/recurrent_step.h>

#include <tightloop/ops/functions.h>

namespace tightloop::nn {
namespace {

/// [B, gates·H] → its gates, each [B, H].
std::vector<Tensor> split(const Tensor& z, std::int64_t gates) {
  const std::int64_t hidden = z.dim(1).factor / gates;
  const Tensor apart = reshape(z, {z.dim(0), gates, hidden});
  std::vector<Tensor> out;
  for (std::int64_t i = 0; i < gates; ++i) out.push_back(squeeze(slice(apart, 1, i, i + 1), 1));
  return out;
}

std::vector<Tensor> lstm_step(const Tensor& z, const Tensor& c, const StepWeights& w) {
  const auto gate = split(z, 4);
  const Tensor next = sigmoid(gate[1]) * c + sigmoid(gate[0]) * tanh(gate[2]);
  const Tensor h = sigmoid(gate[3]) * tanh(next);
  return {w.projection.defined() ? matmul_transposed(h, w.projection) : h, next};
}

std::vector<Tensor> gru_step(const Tensor& projected, const Tensor& product, const Tensor& h) {
  const auto x = split(projected, 3), own = split(product, 3);
  const Tensor reset = sigmoid(x[0] + own[0]), update = sigmoid(x[1] + own[1]);
  const Tensor fresh = tanh(x[2] + reset * own[2]);
  return {fresh + update * (h - fresh)};
}

}  // namespace

std::int64_t gates_of(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}

const char* name_of(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? "lstm" : kind == RecurrentKind::gru ? "gru" : "rnn";
}

std::vector<Tensor> recurrent_step(RecurrentKind kind, const Tensor& projected,
                                   const std::vector<Tensor>& state, const StepWeights& weights) {
  Tensor product = matmul_transposed(state[0], weights.hidden);
  if (weights.bias.defined()) product = product + weights.bias;
  if (kind == RecurrentKind::gru) return gru_step(projected, product, state[0]);
  const Tensor z = projected + product;
  if (kind == RecurrentKind::lstm) return lstm_step(z, state[1], weights);
  return {kind == RecurrentKind::rnn_tanh ? tanh(z) : relu(z)};
}

}  // namespace tightloop::nn
