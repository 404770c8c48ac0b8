// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/pixel_shuffle.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::int64_t positive(const char* layer, std::int64_t r) {
  if (r < 1) throw Error(fmt::format("{}: the factor must be 1 or greater, got {}", layer, r));
  return r;
}

/// Dim `axis` of an image; throws Error unless `divisor` divides it.
std::int64_t divided(const char* layer, const Tensor& x, std::size_t axis, std::int64_t divisor) {
  const bool image = x.rank() == 4 && x.dim(1).is_static() && x.dim(2).is_static() && x.dim(3).is_static();
  if (!image)
    throw Error(
        fmt::format("{}: x must be [batch, channels, height, width], got {}", layer, to_string(x.type())));
  const std::int64_t n = x.dim(axis).factor;
  if (n % divisor != 0)
    throw Error(fmt::format("{}: {} of {} must be a multiple of {}", layer,
                            axis == 1   ? "the channels"
                            : axis == 2 ? "the height"
                                        : "the width",
                            to_string(x.type()), divisor));
  return n / divisor;
}

}  // namespace

PixelShuffle::PixelShuffle(std::int64_t upscale_factor) : r_(positive("pixel_shuffle", upscale_factor)) {}
PixelUnshuffle::PixelUnshuffle(std::int64_t downscale_factor)
    : r_(positive("pixel_unshuffle", downscale_factor)) {}

std::string PixelShuffle::describe() const { return fmt::format("PixelShuffle({})", r_); }
std::string PixelUnshuffle::describe() const { return fmt::format("PixelUnshuffle({})", r_); }

Tensor PixelShuffle::forward(const Tensor& x) {
  const std::int64_t channels = divided("pixel_shuffle", x, 1, r_ * r_);
  const std::int64_t height = x.dim(2).factor, width = x.dim(3).factor;
  const Tensor patches = reshape(x, {x.dim(0), channels, r_, r_, height, width});
  return reshape(permute(patches, {0, 1, 4, 2, 5, 3}), {x.dim(0), channels, height * r_, width * r_});
}

Tensor PixelUnshuffle::forward(const Tensor& x) {
  const std::int64_t height = divided("pixel_unshuffle", x, 2, r_),
                     width = divided("pixel_unshuffle", x, 3, r_);
  const std::int64_t channels = x.dim(1).factor;
  const Tensor patches = reshape(x, {x.dim(0), channels, height, r_, width, r_});
  return reshape(permute(patches, {0, 1, 3, 5, 2, 4}), {x.dim(0), channels * r_ * r_, height, width});
}

namespace layers {
namespace {

std::unique_ptr<Layer> shuffle(const Options& o, const TensorType&) {
  return std::make_unique<PixelShuffle>(o.at<std::int64_t>("upscale_factor"));
}

std::unique_ptr<Layer> unshuffle(const Options& o, const TensorType&) {
  return std::make_unique<PixelUnshuffle>(o.at<std::int64_t>("downscale_factor"));
}

}  // namespace

const LayerDef& pixel_shuffle_def() {
  static const LayerDef def{"pixel_shuffle",
                            "r² channels become a patch of r×r pixels",
                            {{"upscale_factor", OptionType::integer, {}, "r", true}},
                            shuffle};
  return def;
}

const LayerDef& pixel_unshuffle_def() {
  static const LayerDef def{"pixel_unshuffle",
                            "a patch of r×r pixels becomes r² channels",
                            {{"downscale_factor", OptionType::integer, {}, "r", true}},
                            unshuffle};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
