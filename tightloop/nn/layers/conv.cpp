// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/conv.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/moments.h>
#include <tightloop/nn/layers/spatial.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

std::string name_of(std::size_t spatial) { return fmt::format("conv{}d", spatial); }

}  // namespace

Conv::Conv(std::size_t spatial, std::int64_t in, std::int64_t out, const PerDim& kernel, ConvOptions options)
    : weight(convolution_weight(name_of(spatial), spatial, in, out, kernel, options.groups, false),
             init::kaiming_uniform(std::sqrt(5.0))),
      spatial_(spatial),
      options_(std::move(options)) {
  const double bound = std::sqrt(static_cast<double>(out) / static_cast<double>(weight.count()));
  if (options_.bias) bias.emplace(Shape{out}, init::uniform(-bound, bound));
  const auto stride = options_.stride.of(layer(), "stride", spatial);
  const auto dilation = options_.dilation.of(layer(), "dilation", spatial);
  const std::string& word = options_.padding.word();
  if (!word.empty() && word != "same" && word != "valid")
    throw Error(fmt::format("{}: padding must be numbers, 'same' or 'valid', got '{}'", layer(), word));
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t reach = dilation[d] * (weight.dims()[d + 2] - 1);
    if (word == "same" && stride[d] != 1)
      throw Error(fmt::format("{}: padding 'same' needs stride 1, got {}", layer(), options_.stride.text()));
    const std::int64_t padding =
        word.empty() ? options_.padding.numbers().of(layer(), "padding", spatial, 0)[d] : 0;
    if (padding > reach + 1)
      throw Error(fmt::format(
          "{}: padding {} is larger than the kernel ({} with its dilation), so that results would "
          "see nothing of x",
          layer(), padding, reach + 1));
    low_.push_back(word == "same" ? reach / 2 : padding);
    high_.push_back(word == "same" ? reach - reach / 2 : padding);
  }
}

std::string Conv::layer() const { return name_of(spatial_); }

void Conv::fields(Fields& f) {
  f("weight", weight);
  if (bias) f("bias", *bias);
}

std::string Conv::describe() const {
  const auto& dims = weight.dims();
  return fmt::format("Conv{}d({}, {}, {}, stride={}, padding={}{}{})", spatial_, dims[1] * options_.groups,
                     dims[0], PerDim(std::vector<std::int64_t>(dims.begin() + 2, dims.end())).text(),
                     options_.stride.text(), options_.padding.text(),
                     options_.groups == 1 ? "" : fmt::format(", groups={}", options_.groups),
                     bias ? "" : ", bias=false");
}

Tensor Conv::forward(const Tensor& x) {
  expect_spatial(layer(), x.type(), spatial_, weight.dims()[1] * options_.groups);
  const bool zeros = options_.padding_mode == PaddingMode::zeros;
  const Tensor padded = zeros ? x : pad_spatial(x, low_, high_, options_.padding_mode);
  const Tensor y = convolution(padded, weight,
                               {.stride = options_.stride,
                                .padding = zeros ? PerDim(low_) : PerDim(0),
                                .padding_after = zeros ? PerDim(high_) : PerDim(0),
                                .dilation = options_.dilation,
                                .groups = options_.groups});
  return bias ? y + per_channel(*bias, y.rank()) : y;
}

namespace layers {
namespace {

PaddingMode mode_of(const std::string& layer, const std::string& word) {
  static constexpr std::pair<std::string_view, PaddingMode> kModes[] = {{"zeros", PaddingMode::zeros},
                                                                        {"reflect", PaddingMode::reflect},
                                                                        {"replicate", PaddingMode::replicate},
                                                                        {"circular", PaddingMode::circular}};
  for (const auto& [name, mode] : kModes)
    if (name == word) return mode;
  throw Error(
      fmt::format("{}: padding_mode must be zeros, reflect, replicate or circular, got '{}'", layer, word));
}

template <std::size_t spatial>
std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  const std::string layer = name_of(spatial);
  expect_spatial(layer, x, spatial);
  ConvOptions options{.stride = per_dim(o, "stride"),
                      .dilation = per_dim(o, "dilation"),
                      .groups = o.at<std::int64_t>("groups"),
                      .bias = o.at<bool>("bias"),
                      .padding_mode = mode_of(layer, o.at<std::string>("padding_mode"))};
  if (const auto* word = std::get_if<std::string>(o.find("padding")))
    options.padding = *word;
  else
    options.padding = per_dim(o, "padding");
  return std::make_unique<ConvNd<spatial>>(x.shape[1].factor, o.at<std::int64_t>("out_channels"),
                                           per_dim(o, "kernel_size"), std::move(options));
}

template <std::size_t spatial>
LayerDef def(const char* name, const char* doc) {
  OptionSpec padding = sizes_option("padding", 0, "numbers, 'same' or 'valid'");
  padding.or_text = true;
  return {name,
          doc,
          {{"out_channels", OptionType::integer, {}, "channels of the result", true},
           {"kernel_size", OptionType::sizes, {}, "of the window", true},
           sizes_option("stride", 1),
           padding,
           sizes_option("dilation", 1),
           {"groups", OptionType::integer, std::int64_t{1}},
           {"bias", OptionType::boolean, true},
           {"padding_mode", OptionType::text, std::string("zeros"), "zeros, reflect, replicate or circular"}},
          build<spatial>};
}

}  // namespace

const LayerDef& conv1d_def() {
  static const LayerDef made = def<1>("conv1d", "convolution of x [B, C, L]");
  return made;
}

const LayerDef& conv2d_def() {
  static const LayerDef made = def<2>("conv2d", "convolution of x [B, C, H, W]");
  return made;
}

const LayerDef& conv3d_def() {
  static const LayerDef made = def<3>("conv3d", "convolution of x [B, C, D, H, W]");
  return made;
}

}  // namespace layers
}  // namespace tightloop::nn
