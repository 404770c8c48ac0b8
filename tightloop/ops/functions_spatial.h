// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and pooling over the dims after batch and channels: x is [B, C, ...] with one to three of
// them. Definitions and defaults are torch.nn.functional's. Integers, bf16 and f16 compute in f32. All throw
// Error naming the function, the rule and what came.
#include <tightloop/ir/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop {

/// A whole number for each spatial dim; a single one stands for all.
class PerDim {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a number or a list is one.
  PerDim(std::int64_t all) : values_{all} {}
  PerDim(int all) : values_{all} {}
  PerDim(std::initializer_list<std::int64_t> values) : values_(values) {}
  PerDim(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  // NOLINTEND(google-explicit-constructor)

  /// One for each of `spatial` dims. Throws Error naming `function` and `what` when there are more or fewer
  /// and when one is below `least`.
  std::vector<std::int64_t> of(std::string_view function, std::string_view what, std::size_t spatial,
                               std::int64_t least = 1) const;
  /// "3" or "(3, 5)"
  std::string text() const;

 private:
  std::vector<std::int64_t> values_;
};

struct ConvolutionOptions {
  PerDim stride = 1;
  PerDim padding = 0;                        ///< zeros before each dim,
  std::optional<PerDim> padding_after = {};  ///< and after it, when not as many
  PerDim dilation = 1;
  std::int64_t groups = 1;
};
/// x [B, C, ...] with weight [O, C/groups, kernel...]: [B, O, ...]. (A cross-correlation, as in PyTorch.)
Tensor convolution(Tensor x, Tensor weight, const ConvolutionOptions& options = {});

struct ConvTransposeOptions {
  PerDim stride = 1;
  PerDim padding = 0;
  PerDim output_padding = 0;  ///< less than stride or dilation
  std::int64_t groups = 1;
  PerDim dilation = 1;
};
/// x [B, C, ...] with weight [C, O/groups, kernel...]: [B, O, (n-1)·stride - 2·padding + dilation·(kernel-1)
/// + output_padding + 1...], the gradient of a convolution by its input.
Tensor conv_transpose(Tensor x, Tensor weight, const ConvTransposeOptions& options = {});

enum class PaddingMode : std::uint8_t { zeros, reflect, replicate, circular };
/// The spatial dims of x with low[d] and high[d] more elements: zeros, mirrored without the edge, the edge
/// again, or from the other end.
Tensor pad_spatial(Tensor x, const PerDim& low, const PerDim& high, PaddingMode mode);

struct MaxPoolOptions {
  PerDim kernel;
  std::optional<PerDim> stride = {};  ///< the kernel when not given
  PerDim padding = 0;                 ///< at most half the kernel
  PerDim dilation = 1;
  bool ceil_mode = false;  ///< a last window may reach beyond the padding, if it begins before it
};
/// The largest element of each window: NaN if one is NaN; padding never wins. The gradient goes to the first
/// maximum.
Tensor max_pool(Tensor x, const MaxPoolOptions& options);

struct AvgPoolOptions {
  PerDim kernel;
  std::optional<PerDim> stride = {};
  PerDim padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< zeros of the padding count
};
/// The mean of each window.
Tensor avg_pool(Tensor x, const AvgPoolOptions& options);

/// Pooling to a given size: window o of n elements is ⌊o·n/size⌋ .. ⌈(o+1)·n/size⌉ - 1.
Tensor adaptive_max_pool(Tensor x, const PerDim& size);
Tensor adaptive_avg_pool(Tensor x, const PerDim& size);

}  // namespace tightloop
