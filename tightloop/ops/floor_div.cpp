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

}  // namespace

const ir::OpDef& floor_div_op() {
  static const ir::OpDef op{
      .name = "floor_div",
      .doc = "floor(a / b), as Python's //. Integers: 0 for a zero divisor.",
      .arity = 2,
      .infer = same_number,
      .evaluate = [](const EvalArgs& a) { map(a, floor_div, floor_div_integers); },
      .samples = [] { return number_samples(2, 1, 9); },
  };
  return op;
}

}  // namespace tightloop::ops
