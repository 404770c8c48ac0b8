// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/reduce.h>

#include <cmath>

namespace tightloop::ops {
const ir::OpDef& reduce_min_op() {
  static const ir::OpDef op{
      .name = "reduce_min",
      .doc =
          "Smallest element over `axes`, which are removed; NaN if one is. Of bool: all. Equal extremes "
          "share the gradient.",
      .kind = ir::OpKind::reduction,
      .attrs = {{"axes", Ints{}}},
      .infer = reduced,
      .evaluate =
          [](const EvalArgs& a) {
            if (is_floating(a.out.dtype()))
              fold(a, INFINITY + 0.0, [](double m, double x) { return std::isnan(x) || x < m ? x : m; });
            else
              fold(a, min_start(a.out.dtype()), [](std::int64_t m, std::int64_t x) { return x < m ? x : m; });
          },
      .vjp = extreme_vjp,
      .samples =
          [] {
            return reduction_samples({DType::f32, DType::f64, DType::i64, DType::boolean});
          },
  };
  return op;
}

}  // namespace tightloop::ops
