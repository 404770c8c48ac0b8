// SPDX-License-Identifier: Apache-2.0
#pragma once
// What convolution and pooling layers share: checks of x, and options that are a number or one for each dim.
#include <tightloop/base/options.h>
#include <tightloop/ops/functions_spatial.h>

namespace tightloop::nn {

/// Throws Error naming `layer` unless x is floating [B, channels, ...] with `spatial` more dims; channels 0:
/// any.
void expect_spatial(const std::string& layer, const TensorType& x, std::size_t spatial,
                    std::int64_t channels = 0);

/// The weight of a convolution, [out, in/groups, kernel...], or [in, out/groups, kernel...] of a transposed
/// one. Throws Error naming `layer` unless the groups divide both.
Shape convolution_weight(const std::string& layer, std::size_t spatial, std::int64_t in, std::int64_t out,
                         const PerDim& kernel, std::int64_t groups, bool transposed);

/// An option of type `sizes`, as it is and as one number for each dim.
std::vector<std::int64_t> sizes_of(const Options& resolved, std::string_view name);
PerDim per_dim(const Options& resolved, std::string_view name);
/// One that may be left out.
std::optional<PerDim> optional_per_dim(const Options& resolved, std::string_view name);

/// "kernel_size"'s spec and the like, for the tables of layers.
OptionSpec sizes_option(std::string_view name, std::int64_t fallback, std::string_view doc = {});

}  // namespace tightloop::nn
