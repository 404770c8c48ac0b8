// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {
namespace {

double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

std::int64_t remainder_integers(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

Scalar fast(ScalarBuilder& b, Scalars in, const ir::Node&) {
  const Scalar y = in[1], zero = b.like(y, 0), rest = b.rem(in[0], y);
  const Scalar opposed =
      b.bit_xor(b.compare(ir::Compare::lt, y, zero), b.compare(ir::Compare::lt, rest, zero));
  return b.select(b.bit_and(b.compare(ir::Compare::ne, rest, zero), opposed), rest + y, rest);
}

}  // namespace

const ir::OpDef& remainder_op() {
  static const ir::OpDef op{
      .name = "remainder",
      .doc = "a - b * floor(a / b): the sign of the divisor, as Python's %. Integers: 0 for a zero divisor.",
      .arity = 2,
      .infer = same_number,
      .evaluate = [](const EvalArgs& a) { map(a, remainder, remainder_integers); },
      .body = fast,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {g, -(g * floor_div(in(y, 0), in(y, 1)))};
      },
      .samples = [] { return number_samples(2, 1, 9); },
  };
  return op;
}

}  // namespace tightloop::ops
