// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar y, Scalar x) {
  ScalarBuilder& b = *x.builder;
  constexpr double pi = 3.14159274101257324219, pi_rest = -8.74227800037248566e-8;
  const Scalar zero = b.like(x, 0);
  const Scalar ax = b.abs(x), ay = b.abs(y);
  const Scalar large = b.max(ax, ay), small = b.min(ax, ay);
  const Scalar equal = b.compare(ir::Compare::eq, large, small);
  const Scalar same = b.select(b.compare(ir::Compare::eq, large, zero), zero, b.like(x, 1));
  const Scalar near = math::atan(b.select(equal, same, small / large));
  const Scalar steep = b.compare(ir::Compare::gt, ay, ax);
  const Scalar first = b.select(steep, b.like(x, pi_rest / 2) - near + pi / 2, near);
  const Scalar left = b.compare(ir::Compare::lt, b.bitcast(x, DType::i32), b.constant_int(DType::i32, 0));
  return b.copysign(b.select(left, b.like(x, pi_rest) - first + pi, first), y);
}

}  // namespace

const ir::OpDef& atan2_op() {
  static const ir::OpDef op{
      .name = "atan2",
      .doc = "The angle of the point (x, y) = (b, a), in (-pi, pi]. f32 within 1.3 ulp.",
      .arity = 2,
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x, double y) { return std::atan2(x, y); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return in[0].dtype == DType::f64 ? b.libm("atan2", {in[0], in[1]}) : fast(in[0], in[1]);
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor &a = in(y, 0), &b = in(y, 1);
        const Tensor scaled = g / (a * a + b * b);
        return {scaled * b, -(scaled * a)};
      },
      .samples = [] { return float_samples(2, 0.3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
