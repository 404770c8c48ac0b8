// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/pool.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/spatial.h>

#include <fmt/format.h>

namespace tightloop::nn {

Pool::Pool(const std::string& name, const std::string& torch, std::size_t spatial, const PerDim& size,
           Function function)
    : layer_(fmt::format("{}{}d", name, spatial)),
      text_(fmt::format("{}{}d({})", torch, spatial, size.text())),
      spatial_(spatial),
      function_(std::move(function)) {}

Tensor Pool::forward(const Tensor& x) {
  expect_spatial(layer_, x.type(), spatial_);
  return function_(x);
}

namespace layers {
namespace {

template <std::size_t spatial>
LayerDef max_pool_def(const char* name) {
  return {name,
          "the largest element of each window",
          {{"kernel_size", OptionType::sizes, {}, "of the window", true},
           {"stride", OptionType::sizes, {}, "kernel_size when left out"},
           sizes_option("padding", 0),
           sizes_option("dilation", 1),
           {"ceil_mode", OptionType::boolean, false}},
          [](const Options& o, const TensorType&) -> std::unique_ptr<Layer> {
            return std::make_unique<MaxPoolNd<spatial>>(
                per_dim(o, "kernel_size"),
                MaxPoolLayerOptions{optional_per_dim(o, "stride"), per_dim(o, "padding"),
                                    per_dim(o, "dilation"), o.at<bool>("ceil_mode")});
          }};
}

template <std::size_t spatial>
LayerDef avg_pool_def(const char* name) {
  return {name,
          "the mean of each window",
          {{"kernel_size", OptionType::sizes, {}, "of the window", true},
           {"stride", OptionType::sizes, {}, "kernel_size when left out"},
           sizes_option("padding", 0),
           {"ceil_mode", OptionType::boolean, false},
           {"count_include_pad", OptionType::boolean, true}},
          [](const Options& o, const TensorType&) -> std::unique_ptr<Layer> {
            return std::make_unique<AvgPoolNd<spatial>>(
                per_dim(o, "kernel_size"),
                AvgPoolLayerOptions{optional_per_dim(o, "stride"), per_dim(o, "padding"),
                                    o.at<bool>("ceil_mode"), o.at<bool>("count_include_pad")});
          }};
}

template <class Adaptive>
LayerDef adaptive_def(const char* name, const char* doc) {
  return {name,
          doc,
          {{"output_size", OptionType::sizes, {}, "spatial dims of the result", true}},
          [](const Options& o, const TensorType&) -> std::unique_ptr<Layer> {
            return std::make_unique<Adaptive>(per_dim(o, "output_size"));
          }};
}

}  // namespace

const LayerDef& max_pool1d_def() {
  static const LayerDef made = max_pool_def<1>("max_pool1d");
  return made;
}
const LayerDef& max_pool2d_def() {
  static const LayerDef made = max_pool_def<2>("max_pool2d");
  return made;
}
const LayerDef& max_pool3d_def() {
  static const LayerDef made = max_pool_def<3>("max_pool3d");
  return made;
}
const LayerDef& avg_pool1d_def() {
  static const LayerDef made = avg_pool_def<1>("avg_pool1d");
  return made;
}
const LayerDef& avg_pool2d_def() {
  static const LayerDef made = avg_pool_def<2>("avg_pool2d");
  return made;
}
const LayerDef& avg_pool3d_def() {
  static const LayerDef made = avg_pool_def<3>("avg_pool3d");
  return made;
}
const LayerDef& adaptive_max_pool1d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveMaxPool1d>("adaptive_max_pool1d", "the largest of each of L windows");
  return made;
}
const LayerDef& adaptive_max_pool2d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveMaxPool2d>("adaptive_max_pool2d", "the largest of each of H x W windows");
  return made;
}
const LayerDef& adaptive_max_pool3d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveMaxPool3d>("adaptive_max_pool3d", "the largest of each of D x H x W windows");
  return made;
}
const LayerDef& adaptive_avg_pool1d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveAvgPool1d>("adaptive_avg_pool1d", "the mean of each of L windows");
  return made;
}
const LayerDef& adaptive_avg_pool2d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveAvgPool2d>("adaptive_avg_pool2d", "the mean of each of H x W windows");
  return made;
}
const LayerDef& adaptive_avg_pool3d_def() {
  static const LayerDef made =
      adaptive_def<AdaptiveAvgPool3d>("adaptive_avg_pool3d", "the mean of each of D x H x W windows");
  return made;
}

}  // namespace layers
}  // namespace tightloop::nn
