// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <cmath>

namespace tightloop {
namespace {

using namespace ops;

/// Promotes and broadcasts both operands, then applies `op`.
Tensor binary(const ir::OpDef& op, Tensor a, Tensor b) {
  const Shape shape = broadcast_shape(op.name, a.shape(), b.shape());
  const DType dtype = promote(a.dtype(), b.dtype());
  a = computable(cast(std::move(a), dtype));
  b = computable(cast(std::move(b), dtype));
  return ir::make_node(op, {broadcast_to(std::move(a), shape), broadcast_to(std::move(b), shape)});
}

/// The same for arithmetic: two bools count as i64.
Tensor arithmetic(const ir::OpDef& op, Tensor a, Tensor b) {
  if (a.dtype() == DType::boolean && b.dtype() == DType::boolean) a = cast(std::move(a), DType::i64);
  return binary(op, std::move(a), std::move(b));
}

/// The same for functions of real numbers: integers compute in f32.
Tensor real(const ir::OpDef& op, Tensor a, Tensor b) {
  if (!is_floating(promote(a.dtype(), b.dtype()))) a = cast(std::move(a), DType::f32);
  return binary(op, std::move(a), std::move(b));
}
Tensor real(const ir::OpDef& op, Tensor x) { return ir::make_node(op, {floating(std::move(x))}); }

Tensor unary(const ir::OpDef& op, Tensor x) {
  x = x.dtype() == DType::boolean ? cast(std::move(x), DType::i64) : computable(std::move(x));
  return ir::make_node(op, {std::move(x)});
}

/// Whole numbers are their own rounding.
Tensor rounding(const ir::OpDef& op, Tensor x) {
  return is_floating(x.dtype()) ? unary(op, std::move(x)) : x;
}

Tensor logic(const ir::OpDef& op, Tensor a, Tensor b) {
  return binary(op, cast(std::move(a), DType::boolean), cast(std::move(b), DType::boolean));
}

Tensor float_test(const ir::OpDef& op, Tensor x, bool of_integers) {
  if (!is_floating(x.dtype())) return full(x.shape(), of_integers ? 1 : 0, DType::boolean);
  return ir::make_node(op, {computable(std::move(x))});
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::isfinite(x) && std::fabs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent) < 64;
}

}  // namespace

Tensor add(Tensor a, Tensor b) { return arithmetic(add_op(), std::move(a), std::move(b)); }
Tensor sub(Tensor a, Tensor b) { return arithmetic(sub_op(), std::move(a), std::move(b)); }
Tensor mul(Tensor a, Tensor b) { return arithmetic(mul_op(), std::move(a), std::move(b)); }
Tensor div(Tensor a, Tensor b) { return real(div_op(), std::move(a), std::move(b)); }
Tensor div_root(Tensor a, Tensor v, Tensor e) {
  const Shape shape =
      broadcast_shape("div_root", broadcast_shape("div_root", a.shape(), v.shape()), e.shape());
  const DType dtype = promote(promote(a.dtype(), v.dtype()), e.dtype());
  const auto fit = [&](Tensor x) { return broadcast_to(floating(cast(std::move(x), dtype)), shape); };
  return ir::make_node(div_root_op(), {fit(std::move(a)), fit(std::move(v)), fit(std::move(e))});
}
Tensor floor_div(Tensor a, Tensor b) { return arithmetic(floor_div_op(), std::move(a), std::move(b)); }
Tensor remainder(Tensor a, Tensor b) { return arithmetic(remainder_op(), std::move(a), std::move(b)); }
Tensor minimum(Tensor a, Tensor b) { return arithmetic(minimum_op(), std::move(a), std::move(b)); }
Tensor maximum(Tensor a, Tensor b) { return arithmetic(maximum_op(), std::move(a), std::move(b)); }
Tensor atan2(Tensor a, Tensor b) { return real(atan2_op(), std::move(a), std::move(b)); }

Tensor pow(Tensor a, Tensor b) {
  const auto power = constant_value(b);
  if (power && is_floating(b.dtype()) && b.dtype() == promote(a.dtype(), b.dtype())) {
    const Tensor x =
        broadcast_to(computable(cast(a, b.dtype())), broadcast_shape("pow", a.shape(), b.shape()));
    if (*power == 1) return x;
    if (*power == 2) return x * x;
    if (*power == 3) return x * x * x;
    if (*power == 0.5) return sqrt(x);
    if (*power == -0.5) return rsqrt(x);
    if (*power == -1) return reciprocal(x);
  }
  return real(pow_op(), std::move(a), std::move(b));
}

Tensor neg(Tensor x) { return unary(neg_op(), std::move(x)); }
Tensor abs(Tensor x) { return unary(abs_op(), std::move(x)); }
Tensor sign(Tensor x) { return unary(sign_op(), std::move(x)); }
Tensor floor(Tensor x) { return rounding(floor_op(), std::move(x)); }
Tensor ceil(Tensor x) { return rounding(ceil_op(), std::move(x)); }
Tensor round(Tensor x) { return rounding(round_op(), std::move(x)); }
Tensor trunc(Tensor x) { return rounding(trunc_op(), std::move(x)); }
Tensor square(Tensor x) { return mul(x, x); }
Tensor reciprocal(Tensor x) { return 1.0 / floating(std::move(x)); }

Tensor sqrt(Tensor x) { return real(sqrt_op(), std::move(x)); }
Tensor rsqrt(Tensor x) { return real(rsqrt_op(), std::move(x)); }
Tensor exp(Tensor x) { return real(exp_op(), std::move(x)); }
Tensor expm1(Tensor x) { return real(expm1_op(), std::move(x)); }
Tensor log(Tensor x) { return real(log_op(), std::move(x)); }
Tensor log1p(Tensor x) { return real(log1p_op(), std::move(x)); }
Tensor sin(Tensor x) { return real(sin_op(), std::move(x)); }
Tensor cos(Tensor x) { return real(cos_op(), std::move(x)); }
Tensor tan(Tensor x) { return real(tan_op(), std::move(x)); }
Tensor atan(Tensor x) { return real(atan_op(), std::move(x)); }
Tensor sinh(Tensor x) { return real(sinh_op(), std::move(x)); }
Tensor cosh(Tensor x) { return real(cosh_op(), std::move(x)); }
Tensor tanh(Tensor x) { return real(tanh_op(), std::move(x)); }
Tensor erf(Tensor x) { return real(erf_op(), std::move(x)); }
Tensor sigmoid(Tensor x) { return real(sigmoid_op(), std::move(x)); }

Tensor clamp(Tensor x, std::optional<double> low, std::optional<double> high) {
  if (low && high && *low > *high)
    throw Error("clamp: low " + std::to_string(*low) + " is above high " + std::to_string(*high));
  x = computable(std::move(x));
  const Tensor bounded_below = low ? select(less(x, number_like(x, *low)), number_like(x, *low), x) : x;
  return high ? select(greater(x, number_like(x, *high)), number_like(x, *high), bounded_below)
              : bounded_below;
}

Tensor operator+(Tensor a, double b) { return add(a, number_like(a, b)); }
Tensor operator-(Tensor a, double b) { return sub(a, number_like(a, b)); }
Tensor operator*(Tensor a, double b) { return mul(a, number_like(a, b)); }
Tensor operator/(Tensor a, double b) {
  if (is_power_of_two(b)) return floating(std::move(a)) * (1 / b);
  return div(a, number_like(a, b));
}
Tensor operator+(double a, Tensor b) { return add(number_like(b, a), b); }
Tensor operator-(double a, Tensor b) { return sub(number_like(b, a), b); }
Tensor operator*(double a, Tensor b) { return mul(number_like(b, a), b); }
Tensor operator/(double a, Tensor b) { return div(number_like(b, a), b); }

Tensor equal(Tensor a, Tensor b) { return binary(eq_op(), std::move(a), std::move(b)); }
Tensor not_equal(Tensor a, Tensor b) { return binary(ne_op(), std::move(a), std::move(b)); }
Tensor less(Tensor a, Tensor b) { return binary(lt_op(), std::move(a), std::move(b)); }
Tensor less_equal(Tensor a, Tensor b) { return binary(le_op(), std::move(a), std::move(b)); }
Tensor greater(Tensor a, Tensor b) { return binary(gt_op(), std::move(a), std::move(b)); }
Tensor greater_equal(Tensor a, Tensor b) { return binary(ge_op(), std::move(a), std::move(b)); }
Tensor operator==(Tensor a, double b) { return equal(a, number_like(a, b)); }
Tensor operator<(Tensor a, double b) { return less(a, number_like(a, b)); }
Tensor operator<=(Tensor a, double b) { return less_equal(a, number_like(a, b)); }
Tensor operator>(Tensor a, double b) { return greater(a, number_like(a, b)); }
Tensor operator>=(Tensor a, double b) { return greater_equal(a, number_like(a, b)); }

Tensor logical_and(Tensor a, Tensor b) { return logic(logical_and_op(), std::move(a), std::move(b)); }
Tensor logical_or(Tensor a, Tensor b) { return logic(logical_or_op(), std::move(a), std::move(b)); }
Tensor logical_not(Tensor x) { return ir::make_node(logical_not_op(), {cast(std::move(x), DType::boolean)}); }
Tensor is_finite(Tensor x) { return float_test(is_finite_op(), std::move(x), true); }
Tensor is_nan(Tensor x) { return float_test(is_nan_op(), std::move(x), false); }

Tensor select(Tensor condition, Tensor a, Tensor b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const Shape values = broadcast_shape("select", a.shape(), b.shape());
  const Shape shape = broadcast_shape("select", condition.shape(), values);
  return ir::make_node(select_op(), {broadcast_to(cast(std::move(condition), DType::boolean), shape),
                                     broadcast_to(computable(cast(std::move(a), dtype)), shape),
                                     broadcast_to(computable(cast(std::move(b), dtype)), shape)});
}

}  // namespace tightloop
