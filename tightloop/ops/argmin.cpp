// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/arg_reduce.h>

#include <cmath>

namespace tightloop::ops {
namespace {

bool better(double x, double best) { return x < best || (std::isnan(x) && !std::isnan(best)); }

}  // namespace

const ir::OpDef& argmin_op() {
  static const ir::OpDef op{
      .name = "argmin",
      .doc =
          "i64 position of the smallest element along `axis`, which is removed: the first of equals, the "
          "first NaN if any.",
      .kind = ir::OpKind::reduction,
      .attrs = {{"axis", std::int64_t{0}}},
      .infer = arg_type,
      .evaluate =
          [](const EvalArgs& a) {
            find_along(
                a, [](double x, double best) { return better(x, best); },
                [](std::int64_t x, std::int64_t best) { return x < best; });
          },
      .samples = arg_samples,
  };
  return op;
}

}  // namespace tightloop::ops
