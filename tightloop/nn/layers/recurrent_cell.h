// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of a recurrent layer, for loops of one's own: torch.nn's RNNCell, LSTMCell and GRUCell.
#include <tightloop/nn/layers/recurrent.h>

namespace tightloop::nn {

struct CellOptions {
  bool bias = true;
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< RNNCell only
};

/// weight_ih [gates·H, in], weight_hh [gates·H, H], bias_ih and bias_hh [gates·H] start in ±1/√H.
class RecurrentCell : public Module {
 public:
  void fields(Fields& f) override;
  std::string describe() const override;

 protected:
  /// Throws Error unless both sizes are at least 1.
  RecurrentCell(RecurrentKind kind, std::int64_t input, std::int64_t hidden, CellOptions options);
  /// x [B, in] or [in]; `state`: one or two of [B, H] or [H], empty ones are zeros.
  std::vector<Tensor> step(const Tensor& x, std::vector<Tensor> state);

 private:
  RecurrentKind kind_;
  Parameter ih_, hh_;
  std::optional<Parameter> bias_ih_, bias_hh_;
};

class RNNCell final : public RecurrentCell {
 public:
  RNNCell(std::int64_t input, std::int64_t hidden, CellOptions options = {});
  /// The next h.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) { return step(x, {h})[0]; }
};

class GRUCell final : public RecurrentCell {
 public:
  GRUCell(std::int64_t input, std::int64_t hidden, CellOptions options = {});
  /// The next h.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) { return step(x, {h})[0]; }
};

class LSTMCell final : public RecurrentCell {
 public:
  struct State {
    Tensor h = {}, c = {};
  };
  LSTMCell(std::int64_t input, std::int64_t hidden, CellOptions options = {});
  State operator()(const Tensor& x, const State& state);
};

}  // namespace tightloop::nn
