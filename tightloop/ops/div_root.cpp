// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {
namespace {

/// √v by an estimate of 1/√v and two Newton steps.
Scalar root(ScalarBuilder& b, Scalar v) {
  Scalar r = b.rsqrt_estimate(v);
  const Scalar half = v * 0.5;
  r = r * b.fma(half * r, -r, b.like(v, 1.5));
  const Scalar s = v * r;
  const Scalar refined = b.fma(r * 0.5, b.fma(-s, s, v), s);
  const Scalar fixed = b.bit_or(b.compare(ir::Compare::eq, v, b.like(v, 0)),
                                b.compare(ir::Compare::eq, v, b.like(v, INFINITY)));
  return b.select(fixed, v, refined);
}

/// a / d by an estimate of 1/d, a Newton step and a correction by the remainder. Where that is not a number
/// (d is 0 or infinite) a times the estimate is already the quotient.
Scalar quotient(ScalarBuilder& b, Scalar a, Scalar d) {
  const Scalar estimate = b.reciprocal_estimate(d);
  const Scalar r = estimate * b.fma(-d, estimate, b.like(d, 2));
  const Scalar q = a * r;
  const Scalar refined = b.fma(b.fma(-d, q, a), r, q);
  return b.select(b.compare(ir::Compare::eq, refined, refined), refined, a * estimate);
}

Scalar fast(ScalarBuilder& b, Scalars in, const ir::Node&) {
  if (in[0].dtype == DType::f64 || !b.estimates_pay(in[0])) return in[0] / (b.sqrt(in[1]) + in[2]);
  return quotient(b, in[0], root(b, in[1]) + in[2]);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const Tensor &v = in(y, 1), &e = in(y, 2);
  const Tensor by_a = g / (sqrt(v) + e);
  const Tensor by_e = -(by_a * y);
  return {by_a, guard(v > 0, g, by_e * 0.5 * rsqrt(v)), by_e};
}

}  // namespace

const ir::OpDef& div_root_op() {
  static const ir::OpDef op{
      .name = "div_root",
      .doc = "a / (sqrt(v) + e), the step of adaptive optimizers, without a division: f32 within 3 ulp.",
      .arity = 3,
      .infer = same_float,
      .evaluate =
          [](const EvalArgs& x) {
            for (std::int64_t i = 0; i < x.out.count(); ++i)
              x.out.set(i, x.inputs[0]->at(i) / (std::sqrt(x.inputs[1]->at(i)) + x.inputs[2]->at(i)));
          },
      .body = fast,
      .vjp = vjp,
      .samples = [] { return float_samples(3, 0.2, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
