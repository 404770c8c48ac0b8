// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
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
      .samples =
          [] {
            return random_samples({{"stream", std::int64_t{7}}}, {DType::f32, DType::f64});
          },
  };
  return op;
}

}  // namespace tightloop::ops
