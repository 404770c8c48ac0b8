// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/rms_norm.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/last_dims.h>

#include <fmt/format.h>

#include <limits>

namespace tightloop::nn {
namespace {

double smallest_step(DType dtype) {
  return dtype == DType::f64    ? std::numeric_limits<double>::epsilon()
         : dtype == DType::f16  ? 0x1p-10
         : dtype == DType::bf16 ? 0x1p-7
                                : std::numeric_limits<float>::epsilon();
}

}  // namespace

RMSNorm::RMSNorm(std::vector<std::int64_t> shape, RMSNormOptions options)
    : shape_(checked_last_dims("rms_norm", std::move(shape))), eps_(options.eps) {
  if (eps_ && !(*eps_ >= 0)) throw Error(fmt::format("rms_norm: eps must be 0 or more, not {}", *eps_));
  if (options.elementwise_affine)
    weight.emplace(Shape(std::vector<Dim>(shape_.begin(), shape_.end())), init::ones());
}

void RMSNorm::fields(Fields& f) {
  if (weight) f("weight", *weight);
}

std::string RMSNorm::describe() const {
  return fmt::format("RMSNorm([{}], eps={}{})", fmt::join(shape_, ", "),
                     eps_ ? fmt::format("{}", *eps_) : "none", weight ? "" : ", elementwise_affine=false");
}

Tensor RMSNorm::forward(const Tensor& x) {
  const Axes axes = last_axes("rms_norm", x, shape_);
  const Tensor y = x * rsqrt(mean(square(x), axes, true) + eps_.value_or(smallest_step(x.dtype())));
  return weight ? y * *weight : y;
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  RMSNormOptions options{.elementwise_affine = o.at<bool>("elementwise_affine")};
  if (o.has("eps")) options.eps = o.at<double>("eps");
  return std::make_unique<RMSNorm>(last_dims("rms_norm", o, x), options);
}

}  // namespace

const LayerDef& rms_norm_def() {
  static const LayerDef def{"rms_norm",
                            "the last dims scaled to a mean square of 1",
                            {last_dims_spec(),
                             {"eps", OptionType::number, {}, "none: the smallest step of the dtype"},
                             {"elementwise_affine", OptionType::boolean, true}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
