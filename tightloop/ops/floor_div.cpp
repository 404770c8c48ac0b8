// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {
namespace {

double floor_div(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  const double quotient = std::nearbyint((a - rest) / b);
  return rest != 0 && (b < 0) != (rest < 0) ? quotient - 1 : quotient;
}

std::int64_t floor_div_integers(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_sub(0, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Scalar fast(ScalarBuilder& b, Scalars in, const ir::Node&) {
  const Scalar x = in[0], y = in[1], zero = b.like(x, 0), rest = b.rem(x, y);
  const Scalar opposed =
      b.bit_xor(b.compare(ir::Compare::lt, y, zero), b.compare(ir::Compare::lt, rest, zero));
  const Scalar down = b.bit_and(b.compare(ir::Compare::ne, rest, zero), opposed);
  if (!is_floating(x.dtype)) return b.div(x, y) - b.convert(down, x.dtype);
  const Scalar quotient = b.round((x - rest) / y);
  return b.select(b.compare(ir::Compare::eq, y, zero), x / y, b.select(down, quotient - 1, quotient));
}

}  // namespace

const ir::OpDef& floor_div_op() {
  static const ir::OpDef op{
      .name = "floor_div",
      .doc = "floor(a / b), as Python's //. Integers: 0 for a zero divisor.",
      .arity = 2,
      .infer = same_number,
      .evaluate = [](const EvalArgs& a) { map(a, floor_div, floor_div_integers); },
      .body = fast,
      .samples = [] { return number_samples(2, 1, 9); },
  };
  return op;
}

}  // namespace tightloop::ops
