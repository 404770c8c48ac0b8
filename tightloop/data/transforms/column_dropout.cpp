// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

Tensor values(const Options& o, const Tensor& x, Draws& draws) {
  const Tensor drawn = draws.uniforms(x.shape().count().factor);
  const Tensor gone = reshape(drawn, x.shape()) < probability(o);
  return select(gone, scalar(o.at<double>("value")), x);
}

}  // namespace

const TransformDef& column_dropout_transform() {
  static const TransformDef def{
      "column_dropout",
      "each number of a row becomes `value` with probability p; the others stay as they are",
      true,
      {{"p", OptionType::number, 0.1, "of each number, 0..1"},
       {"value", OptionType::number, 0.0, "what it becomes"}},
      nullptr,
      values};
  return def;
}

}  // namespace tightloop::data::transforms
