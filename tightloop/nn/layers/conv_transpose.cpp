// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/conv_transpose.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/moments.h>
#include <tightloop/nn/layers/spatial.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

std::string name_of(std::size_t spatial) { return fmt::format("conv_transpose{}d", spatial); }

}  // namespace

ConvTranspose::ConvTranspose(std::size_t spatial, std::int64_t in, std::int64_t out, const PerDim& kernel,
                             ConvTransposeLayerOptions options)
    : weight(convolution_weight(name_of(spatial), spatial, in, out, kernel, options.groups, true),
             init::kaiming_uniform(std::sqrt(5.0))),
      spatial_(spatial),
      options_(std::move(options)) {
  const double bound = std::sqrt(static_cast<double>(in) / static_cast<double>(weight.count()));
  if (options_.bias) bias.emplace(Shape{out}, init::uniform(-bound, bound));
}

void ConvTranspose::fields(Fields& f) {
  f("weight", weight);
  if (bias) f("bias", *bias);
}

std::string ConvTranspose::describe() const {
  const auto& dims = weight.dims();
  return fmt::format("ConvTranspose{}d({}, {}, {}, stride={}, padding={}{})", spatial_, dims[0],
                     dims[1] * options_.groups,
                     PerDim(std::vector<std::int64_t>(dims.begin() + 2, dims.end())).text(),
                     options_.stride.text(), options_.padding.text(), bias ? "" : ", bias=false");
}

Tensor ConvTranspose::forward(const Tensor& x) {
  expect_spatial(name_of(spatial_), x.type(), spatial_, weight.dims()[0]);
  const Tensor y = conv_transpose(x, weight,
                                  {.stride = options_.stride,
                                   .padding = options_.padding,
                                   .output_padding = options_.output_padding,
                                   .groups = options_.groups,
                                   .dilation = options_.dilation});
  return bias ? y + per_channel(*bias, y.rank()) : y;
}

namespace layers {
namespace {

template <std::size_t spatial>
std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  expect_spatial(name_of(spatial), x, spatial);
  return std::make_unique<ConvTransposeNd<spatial>>(x.shape[1].factor, o.at<std::int64_t>("out_channels"),
                                                    per_dim(o, "kernel_size"),
                                                    ConvTransposeLayerOptions{
                                                        .stride = per_dim(o, "stride"),
                                                        .padding = per_dim(o, "padding"),
                                                        .output_padding = per_dim(o, "output_padding"),
                                                        .groups = o.at<std::int64_t>("groups"),
                                                        .bias = o.at<bool>("bias"),
                                                        .dilation = per_dim(o, "dilation"),
                                                    });
}

template <std::size_t spatial>
LayerDef def(const char* name, const char* doc) {
  return {name,
          doc,
          {{"out_channels", OptionType::integer, {}, "channels of the result", true},
           {"kernel_size", OptionType::sizes, {}, "of the window", true},
           sizes_option("stride", 1),
           sizes_option("padding", 0),
           sizes_option("output_padding", 0),
           {"groups", OptionType::integer, std::int64_t{1}},
           {"bias", OptionType::boolean, true},
           sizes_option("dilation", 1)},
          build<spatial>};
}

}  // namespace

const LayerDef& conv_transpose1d_def() {
  static const LayerDef made = def<1>("conv_transpose1d", "transposed convolution of x [B, C, L]");
  return made;
}

const LayerDef& conv_transpose2d_def() {
  static const LayerDef made = def<2>("conv_transpose2d", "transposed convolution of x [B, C, H, W]");
  return made;
}

const LayerDef& conv_transpose3d_def() {
  static const LayerDef made = def<3>("conv_transpose3d", "transposed convolution of x [B, C, D, H, W]");
  return made;
}

}  // namespace layers
}  // namespace tightloop::nn
