// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/functions_spatial.h>

#include <optional>
#include <string>

namespace tightloop::nn {

/// How much is added around x: numbers, or "valid" (none) or "same" (the result is as large as x; stride 1).
class ConvPadding {
 public:
  // NOLINTBEGIN(google-explicit-constructor): numbers or a word are one.
  ConvPadding(std::int64_t all) : numbers_(all) {}
  ConvPadding(int all) : numbers_(all) {}
  ConvPadding(std::initializer_list<std::int64_t> each) : numbers_(each) {}
  ConvPadding(PerDim numbers) : numbers_(std::move(numbers)) {}
  ConvPadding(std::string word) : word_(std::move(word)) {}
  ConvPadding(const char* word) : word_(word) {}
  // NOLINTEND(google-explicit-constructor)

  const PerDim& numbers() const { return numbers_; }
  const std::string& word() const { return word_; }  ///< empty for numbers
  std::string text() const { return word_.empty() ? numbers_.text() : word_; }

 private:
  PerDim numbers_ = 0;
  std::string word_;
};

struct ConvOptions {
  PerDim stride = 1;
  ConvPadding padding = 0;
  PerDim dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  PaddingMode padding_mode = PaddingMode::zeros;
};

/// x [B, in, ...] → [B, out, ...] over 1, 2 or 3 spatial dims. weight [out, in/groups, kernel...] and bias
/// [out] start in ±1/√(in/groups · kernel).
class Conv : public Layer {
 public:
  void fields(Fields& f) override;
  std::string describe() const override;

  Parameter weight;
  std::optional<Parameter> bias;

 protected:
  /// Throws Error when groups do not divide the channels, padding is larger than the kernel, or padding
  /// "same" meets a stride.
  Conv(std::size_t spatial, std::int64_t in, std::int64_t out, const PerDim& kernel, ConvOptions options);
  Tensor forward(const Tensor& x) override;

 private:
  std::string layer() const;

  std::size_t spatial_;
  ConvOptions options_;
  std::vector<std::int64_t> low_, high_;
};

/// torch.nn.Conv1d, Conv2d, Conv3d.
template <std::size_t spatial>
class ConvNd final : public Conv {
 public:
  ConvNd(std::int64_t in, std::int64_t out, const PerDim& kernel, ConvOptions options = {})
      : Conv(spatial, in, out, kernel, std::move(options)) {}
};
using Conv1d = ConvNd<1>;
using Conv2d = ConvNd<2>;
using Conv3d = ConvNd<3>;

}  // namespace tightloop::nn
