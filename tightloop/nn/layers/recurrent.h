// SPDX-License-Identifier: Apache-2.0
#pragma once
// RNN, LSTM and GRU: torch.nn's names, defaults, weights and formulas. The steps are unrolled over the
// sequence, whose length is therefore part of the compiled program; the products with the input are one for
// all steps.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/nn/layers/recurrent_step.h>

#include <optional>
#include <vector>

namespace tightloop::nn {

enum class Nonlinearity : std::uint8_t { tanh, relu };

struct RecurrentOptions {
  std::int64_t num_layers = 1;
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< RNN only
  bool bias = true;
  bool batch_first = false;  ///< x is [B, T, in] and not [T, B, in]; what a data set gives is
  double dropout = 0;        ///< of the outputs of each layer but the last
  bool bidirectional = false;
  std::int64_t proj_size = 0;  ///< LSTM only: h is W_hr·h, of this size; 0: it is not
  bool last = false;  ///< layer(x) gives the final hidden state [B, D·H] of the last layer, not the sequence
};

/// What RNN, LSTM and GRU share. D is 2 with `bidirectional`, else 1; H the hidden size (the projection's,
/// where there is one). Layer k has weight_ih_l<k> [gates·H, in], weight_hh_l<k>, bias_ih_l<k>, bias_hh_l<k>,
/// and the other direction the same with _reverse; all start in ±1/√H.
class Recurrent : public Layer {
 public:
  void fields(Fields& f) override;
  std::string describe() const override;
  using Layer::operator();

 protected:
  /// Throws Error for sizes below 1, a dropout outside 0..1, and an option of another kind.
  Recurrent(RecurrentKind kind, std::int64_t input, std::int64_t hidden, RecurrentOptions options);

  struct Result {
    Tensor output;               ///< [B, T, D·H], or [T, B, D·H] as x is
    std::vector<Tensor> finals;  ///< h, for lstm also c: [D·layers, B, H]
  };
  /// x [B, T, in], or [T, B, in] without batch_first, or one sequence [T, in]. `initial`: as `finals`, empty
  /// for zeros; without B for one sequence. Throws Error when shapes do not fit.
  Result run(const Tensor& x, const std::vector<Tensor>& initial);
  Tensor forward(const Tensor& x) override;

 private:
  struct Weights {
    Parameter ih, hh;
    std::optional<Parameter> bias_ih, bias_hh, hr;
  };
  using States = std::vector<Tensor>;

  Weights make_weights(std::int64_t input) const;
  std::int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  std::int64_t output_size() const { return options_.proj_size > 0 ? options_.proj_size : hidden_; }
  void check(const Tensor& x) const;
  void check_states(const States& states, const Dim& batch, DType dtype) const;
  States initial_state(const States& given, std::int64_t index, const Dim& batch, DType dtype) const;
  /// All steps of one direction over x [B, T, ·]; leaves the final state in `state`.
  Tensor unroll(const Weights& w, const Tensor& x, bool backwards, States& state) const;
  Result run_batched(Tensor x, const States& initial);

  RecurrentKind kind_;
  std::int64_t input_, hidden_;
  RecurrentOptions options_;
  std::vector<Weights> weights_;  ///< layer by layer, forwards and backwards
};

}  // namespace tightloop::nn
