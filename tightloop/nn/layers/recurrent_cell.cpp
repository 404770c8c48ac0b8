// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/recurrent_cell.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

std::int64_t positive(RecurrentKind kind, const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("{} cell: {} must be 1 or greater, got {}", name_of(kind), what, n));
  return n;
}

Initializer draw(std::int64_t hidden) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  return init::uniform(-bound, bound);
}

}  // namespace

RecurrentCell::RecurrentCell(RecurrentKind kind, std::int64_t input, std::int64_t hidden, CellOptions options)
    : kind_(kind),
      ih_({gates_of(kind) * positive(kind, "hidden_size", hidden),
           positive(kind, "the size of the input", input)},
          draw(hidden)),
      hh_({gates_of(kind) * hidden, hidden}, draw(hidden)) {
  if (!options.bias) return;
  bias_ih_.emplace(Shape{gates_of(kind) * hidden}, draw(hidden));
  bias_hh_.emplace(Shape{gates_of(kind) * hidden}, draw(hidden));
}

void RecurrentCell::fields(Fields& f) {
  f("weight_ih", ih_)("weight_hh", hh_);
  if (bias_ih_) f("bias_ih", *bias_ih_)("bias_hh", *bias_hh_);
}

std::string RecurrentCell::describe() const {
  const char* name = kind_ == RecurrentKind::lstm  ? "LSTMCell"
                     : kind_ == RecurrentKind::gru ? "GRUCell"
                                                   : "RNNCell";
  return fmt::format("{}({}, {}{})", name, ih_.dims()[1], hh_.dims()[1], bias_ih_ ? "" : ", bias=false");
}

std::vector<Tensor> RecurrentCell::step(const Tensor& x, std::vector<Tensor> state) {
  const ir::Scope scope(name());
  const std::int64_t in = ih_.dims()[1], hidden = hh_.dims()[1];
  if ((x.rank() != 1 && x.rank() != 2) || !is_compute_float(x.dtype()) || !x.dim(x.rank() - 1).is(in))
    throw Error(fmt::format("{0} cell: x must be f32 or f64 [B, {1}] or [{1}], got {2}", name_of(kind_), in,
                            to_string(x.type())));
  const bool single = x.rank() == 1;
  const TensorType wanted{x.dtype(), single ? Shape{hidden} : Shape{x.dim(0), Dim(hidden)}};
  for (Tensor& t : state) {
    if (!t.defined()) t = zeros(wanted.shape, wanted.dtype);
    if (t.type() != wanted)
      throw Error(fmt::format("{} cell: the state must be {}, got {}", name_of(kind_), to_string(wanted),
                              to_string(t.type())));
    if (single) t = unsqueeze(t, 0);
  }
  StepWeights own{hh_.value(), {}, {}};
  Tensor projected = matmul_transposed(single ? unsqueeze(x, 0) : x, ih_.value());
  if (bias_ih_) {
    projected = projected + bias_ih_->value();
    own.bias = bias_hh_->value();
  }
  auto next = recurrent_step(kind_, projected, state, own);
  if (single)
    for (Tensor& t : next) t = squeeze(t, 0);
  return next;
}

RNNCell::RNNCell(std::int64_t input, std::int64_t hidden, CellOptions options)
    : RecurrentCell(
          options.nonlinearity == Nonlinearity::tanh ? RecurrentKind::rnn_tanh : RecurrentKind::rnn_relu,
          input, hidden, options) {}

GRUCell::GRUCell(std::int64_t input, std::int64_t hidden, CellOptions options)
    : RecurrentCell(RecurrentKind::gru, input, hidden, options) {}

LSTMCell::LSTMCell(std::int64_t input, std::int64_t hidden, CellOptions options)
    : RecurrentCell(RecurrentKind::lstm, input, hidden, options) {}

LSTMCell::State LSTMCell::operator()(const Tensor& x, const State& state) {
  const auto next = step(x, {state.h, state.c});
  return {next[0], next[1]};
}

}  // namespace tightloop::nn
