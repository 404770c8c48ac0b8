// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::data::transforms {
namespace {

Tensor values(const Options& o, const Tensor& x, Draws& draws) {
  const double mean = o.at<double>("mean"), sigma = o.at<double>("sigma");
  if (!(sigma >= 0)) throw Error(fmt::format("sigma must be at least 0, not {}", sigma));
  if (sigma == 0 && mean == 0) return x;
  const Tensor drawn = draws.normals(x.shape().count().factor);
  return x + (reshape(drawn, x.shape()) * sigma + mean);
}

}  // namespace

const TransformDef& noise_transform() {
  static const TransformDef def{"noise",
                                "adds Gaussian noise to each number",
                                true,
                                {{"mean", OptionType::number, 0.0, "of the noise"},
                                 {"sigma", OptionType::number, 0.1, "its standard deviation"}},
                                nullptr,
                                values};
  return def;
}

}  // namespace tightloop::data::transforms
