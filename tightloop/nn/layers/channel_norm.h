// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct ChannelNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum =
      0.1;  ///< weight of a batch in the running statistics; none: their plain average
  bool affine = true;
  bool track_running_stats = true;
};

/// What BatchNorm and InstanceNorm share: x [B, C, ...] normalised with a mean and a variance for each
/// channel, times weight [C] (starts at 1) plus bias [C] (starts at 0). running_mean and running_var follow
/// the batches in training and are what evaluation uses; without them evaluation computes its own.
class ChannelNorm : public Layer {
 public:
  void fields(Fields& f) override;
  std::string describe() const override;

  /// none: the running statistics are the plain average of the batches since num_batches_tracked was 0.
  void set_momentum(std::optional<double> momentum) { options_.momentum = momentum; }
  const std::optional<double>& momentum() const { return options_.momentum; }
  /// In training too it uses its running statistics and leaves them alone while weight and bias are frozen.
  void evaluate_when_frozen(bool on = true) { evaluates_when_frozen_ = on; }

  std::optional<Parameter> weight, bias;
  std::optional<Buffer> running_mean, running_var, num_batches_tracked;

 protected:
  /// `kind` and `name` as messages and tables call it; x has low..high dims. Throws Error unless channels ≥
  /// 1, eps > 0 and 0 ≤ momentum ≤ 1.
  ChannelNorm(const char* kind, const char* name, std::int64_t channels, ChannelNormOptions options,
              std::size_t low, std::size_t high);

  Tensor forward(const Tensor& x) final;
  /// x from its own statistics, which it hands to follow() in training.
  virtual Tensor normalize(const Tensor& x) = 0;
  /// Moves the running statistics to these, which are [C]; `variance` is unbiased, `weight` a scalar.
  void follow(const Tensor& mean, const Tensor& variance, const Tensor& weight) const;

  bool following() const;
  bool stays() const { return evaluates_when_frozen_ && weight && weight->frozen() && bias->frozen(); }
  /// "batch_norm", with the layer's name when it has one.
  std::string title() const;
  const ChannelNormOptions& options() const { return options_; }

 private:
  const char* kind_;
  const char* label_;
  std::int64_t channels_;
  ChannelNormOptions options_;
  std::size_t low_, high_;
  bool evaluates_when_frozen_ = false;
};

namespace layers {

/// The static second dim of x; throws Error naming the layer.
std::int64_t channels_of(const char* layer, const TensorType& x);
/// eps, momentum, affine and track_running_stats in a forward text.
std::vector<OptionSpec> channel_option_specs(bool affine, bool track, bool momentum_or_none);
ChannelNormOptions channel_options(const Options& resolved);

}  // namespace layers
}  // namespace tightloop::nn
