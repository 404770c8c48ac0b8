// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/math.h>
#include <tightloop/ops/random.h>

#include <cmath>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  expect(a, is_compute_float(a.declared->dtype), "gives f32 or f64");
  return random_type(a);
}

void evaluate(const EvalArgs& a) {
  constexpr double two_pi = 6.28318530717958647693;
  const bool narrow = a.node.type.dtype == DType::f32;
  for (std::int64_t e = 0; e < a.out.count(); ++e) {
    const auto i = static_cast<std::uint64_t>(e);
    const auto words = random_block(a, narrow ? i / 2 : i);
    const double u =
        narrow ? static_cast<double>(uniform_f32(words[i % 2 * 2])) : uniform_f64(words[0], words[1]);
    const double v =
        narrow ? static_cast<double>(uniform_f32(words[i % 2 * 2 + 1])) : uniform_f64(words[2], words[3]);
    a.out.set(e, std::sqrt(-2 * std::log(1 - u)) * std::cos(two_pi * v));
  }
}

Scalar narrow(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const Scalar e = b.element_index();
  const Words words = random_words(b, in, node, b.shift_right(e, 1));
  const Scalar half = b.bit_and(e, b.constant_int(DType::i64, 1));
  const math::Split rest =
      math::split(b.constant(DType::f32, 1) - emit_uniform_f32(b, choose_word(b, words, half, 2, 0)));
  const Scalar log = math::log(rest, b.convert(rest.exponent, DType::f32) - 127);
  const Scalar quarters = emit_uniform_f32(b, choose_word(b, words, half, 2, 1)) * 4;
  const Scalar nearest = b.round(quarters);
  const math::Angle angle{(quarters - nearest) * 1.57079632679489661923, b.convert(nearest, DType::i32)};
  return b.sqrt(b.max(log * -2, b.like(log, 0))) * math::cos(angle);
}

Scalar wide(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const Words words = random_words(b, in, node, b.element_index());
  const Scalar u = emit_uniform_f64(b, words[0], words[1]), v = emit_uniform_f64(b, words[2], words[3]);
  return b.sqrt(b.libm("log", {b.like(u, 1) - u}) * -2) * b.libm("cos", {v * 6.28318530717958647693});
}

Scalar body(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  return node.type.dtype == DType::f32 ? narrow(b, in, node) : wide(b, in, node);
}

}  // namespace

const ir::OpDef& random_normal_op() {
  static const ir::OpDef op{
      .name = "random_normal",
      .doc =
          "Standard normal by Box-Muller: sqrt(-2 ln(1 - u)) cos(2 pi v), u and v uniforms of words e % 2 * "
          "2 and the next of block e / 2 (f64: all words of block e).",
      .kind = ir::OpKind::random,
      .arity = 2,
      .typed = true,
      .attrs = {{"stream", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .body = body,
      .samples =
          [] {
            return random_samples({{"stream", std::int64_t{7}}}, {DType::f32, DType::f64});
          },
  };
  return op;
}

}  // namespace tightloop::ops
