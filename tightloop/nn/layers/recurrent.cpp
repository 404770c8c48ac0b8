// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/recurrent.h>

#include <tightloop/engine/scan.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

Tensor batch_and_time_swapped(const Tensor& x) { return permute(x, {1, 0, 2}); }

}  // namespace

Recurrent::Recurrent(RecurrentKind kind, std::int64_t input, std::int64_t hidden, RecurrentOptions options)
    : kind_(kind), input_(input), hidden_(hidden), options_(options) {
  const auto refuse = [&](const char* what, const char* rule, auto value) {
    throw Error(fmt::format("{}: {} must be {}, got {}", name_of(kind), what, rule, value));
  };
  if (input < 1) refuse("the size of the input", "1 or greater", input);
  if (hidden < 1) refuse("hidden_size", "1 or greater", hidden);
  if (kind != RecurrentKind::lstm && options.proj_size != 0)
    refuse("proj_size", "0: it is of lstm alone", options.proj_size);
  if (options.proj_size < 0 || options.proj_size >= hidden)
    refuse("proj_size", "0 (none) or smaller than hidden_size", options.proj_size);
  if (options.num_layers < 1) refuse("num_layers", "1 or greater", options.num_layers);
  if (!(options.dropout >= 0 && options.dropout <= 1)) refuse("dropout", "0..1", options.dropout);
  for (std::int64_t k = 0; k < options.num_layers; ++k)
    for (std::int64_t d = 0; d < directions(); ++d)
      weights_.push_back(make_weights(k == 0 ? input : directions() * output_size()));
}

Recurrent::Weights Recurrent::make_weights(std::int64_t input) const {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_));
  const auto draw = init::uniform(-bound, bound);
  const std::int64_t rows = gates_of(kind_) * hidden_;
  Weights w{Parameter({rows, input}, draw), Parameter({rows, output_size()}, draw), {}, {}, {}};
  if (options_.bias) {
    w.bias_ih.emplace(Shape{rows}, draw);
    w.bias_hh.emplace(Shape{rows}, draw);
  }
  if (options_.proj_size > 0) w.hr.emplace(Shape{options_.proj_size, hidden_}, draw);
  return w;
}

void Recurrent::fields(Fields& f) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto d = static_cast<std::size_t>(directions());
    const std::string end = fmt::format("_l{}{}", i / d, i % d == 1 ? "_reverse" : "");
    Weights& w = weights_[i];
    f("weight_ih" + end, w.ih)("weight_hh" + end, w.hh);
    if (w.bias_ih) f("bias_ih" + end, *w.bias_ih)("bias_hh" + end, *w.bias_hh);
    if (w.hr) f("weight_hr" + end, *w.hr);
  }
}

std::string Recurrent::describe() const {
  const char* name = kind_ == RecurrentKind::lstm ? "LSTM" : kind_ == RecurrentKind::gru ? "GRU" : "RNN";
  std::string out = fmt::format("{}({}, {}", name, input_, hidden_);
  if (options_.num_layers > 1) out += fmt::format(", num_layers={}", options_.num_layers);
  if (options_.bidirectional) out += ", bidirectional=true";
  if (!options_.bias) out += ", bias=false";
  if (options_.dropout > 0) out += fmt::format(", dropout={}", options_.dropout);
  if (options_.proj_size > 0) out += fmt::format(", proj_size={}", options_.proj_size);
  return out + ")";
}

void Recurrent::check(const Tensor& x) const {
  const char* name = name_of(kind_);
  const bool fits =
      (x.rank() == 2 || x.rank() == 3) && is_compute_float(x.dtype()) && x.dim(x.rank() - 1).is(input_);
  if (!fits)
    throw Error(fmt::format("{0}: x must be f32 or f64 [{1}, {2}] or [T, {2}], got {3}", name,
                            options_.batch_first ? "B, T" : "T, B", input_, to_string(x.type())));
  const Dim steps = x.dim(x.rank() == 3 && options_.batch_first ? 1 : 0);
  if (!steps.is_static())
    throw Error(
        fmt::format("{}: the length of the sequence must be known, got x {}{}", name, to_string(x.type()),
                    x.rank() == 3 && !options_.batch_first ? "; with the batch first say batch_first" : ""));
  if (steps.is(0)) throw Error(fmt::format("{}: the sequence is empty, x is {}", name, to_string(x.type())));
}

void Recurrent::check_states(const States& states, const Dim& batch, DType dtype) const {
  if (states.empty()) return;
  const Dim count = static_cast<std::int64_t>(weights_.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    const TensorType wanted{dtype, Shape{count, batch, Dim(i == 0 ? output_size() : hidden_)}};
    if (states[i].type() != wanted)
      throw Error(fmt::format("{}: the initial {} must be {}, got {}", name_of(kind_), i == 0 ? "h" : "c",
                              to_string(wanted), to_string(states[i].type())));
  }
}

Recurrent::States Recurrent::initial_state(const States& given, std::int64_t index, const Dim& batch,
                                           DType dtype) const {
  States state;
  for (const Tensor& t : given) state.push_back(squeeze(slice(t, 0, index, index + 1), 0));
  if (!given.empty()) return state;
  state.push_back(zeros({batch, output_size()}, dtype));
  if (kind_ == RecurrentKind::lstm) state.push_back(zeros({batch, hidden_}, dtype));
  return state;
}

Tensor Recurrent::unroll(const Weights& w, const Tensor& x, bool backwards, States& state) const {
  StepWeights own{w.hh.value(), {}, w.hr ? w.hr->value() : Tensor()};
  Tensor projected = matmul_transposed(x, w.ih.value());
  if (w.bias_ih && kind_ == RecurrentKind::gru) {
    projected = projected + w.bias_ih->value();
    own.bias = w.bias_hh->value();
  } else if (w.bias_ih) {
    projected = projected + (cast(w.bias_ih->value(), x.dtype()) + cast(w.bias_hh->value(), x.dtype()));
  }
  const auto step = [&](const States& before, const Tensor& x_t) {
    States after = recurrent_step(kind_, x_t, before, own);
    const Tensor h = after[0];
    return std::make_pair(std::move(after), h);
  };
  auto [last, outputs] = scan(step, state, projected, {.axis = 1, .reverse = backwards});
  state = std::move(last);
  return outputs;
}

Recurrent::Result Recurrent::run_batched(Tensor x, const States& initial) {
  check_states(initial, x.dim(0), x.dtype());
  std::vector<States> finals(kind_ == RecurrentKind::lstm ? 2 : 1);
  Dropout dropout(options_.dropout);
  for (std::int64_t k = 0; k < options_.num_layers; ++k) {
    if (k > 0) x = dropout(x);
    States sides;
    for (std::int64_t d = 0; d < directions(); ++d) {
      const std::int64_t index = k * directions() + d;
      States state = initial_state(initial, index, x.dim(0), x.dtype());
      sides.push_back(unroll(weights_[static_cast<std::size_t>(index)], x, d == 1, state));
      for (std::size_t i = 0; i < state.size(); ++i) finals[i].push_back(state[i]);
    }
    x = concat(std::move(sides), 2);
  }
  Result result{x, {}};
  for (const States& s : finals) result.finals.push_back(stack(s, 0));
  return result;
}

Recurrent::Result Recurrent::run(const Tensor& x, const std::vector<Tensor>& initial) {
  const ir::Scope scope(name());
  check(x);
  if (x.rank() == 2) {
    States given;
    for (const Tensor& t : initial) given.push_back(t.rank() == 2 ? unsqueeze(t, 1) : t);
    Result one = run_batched(unsqueeze(x, 0), given);
    for (Tensor& t : one.finals) t = squeeze(t, 1);
    return {squeeze(one.output, 0), std::move(one.finals)};
  }
  if (options_.batch_first) return run_batched(x, initial);
  Result result = run_batched(batch_and_time_swapped(x), initial);
  result.output = batch_and_time_swapped(result.output);
  return result;
}

Tensor Recurrent::forward(const Tensor& x) {
  const Result result = run(x, {});
  if (!options_.last) return result.output;
  const Tensor& h = result.finals[0];
  const auto count = static_cast<std::int64_t>(weights_.size());
  std::vector<Tensor> sides;
  for (std::int64_t i = count - directions(); i < count; ++i)
    sides.push_back(squeeze(slice(h, 0, i, i + 1), 0));
  return concat(std::move(sides), -1);
}

}  // namespace tightloop::nn
