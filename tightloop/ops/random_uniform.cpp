// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  expect(a, is_compute_float(a.declared->dtype), "gives f32 or f64");
  return random_type(a);
}

void evaluate(const EvalArgs& a) {
  const bool narrow = a.node.type.dtype == DType::f32;
  for (std::int64_t e = 0; e < a.out.count(); ++e) {
    const auto i = static_cast<std::uint64_t>(e);
    const auto words = random_block(a, narrow ? i / 4 : i / 2);
    a.out.set(e, narrow ? static_cast<double>(uniform_f32(words[i % 4]))
                        : uniform_f64(words[i % 2 * 2], words[i % 2 * 2 + 1]));
  }
}

Scalar body(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const Scalar e = b.element_index();
  if (node.type.dtype == DType::f32) {
    const Words words = random_words(b, in, node, b.shift_right(e, 2));
    return emit_uniform_f32(b, choose_word(b, words, b.bit_and(e, b.constant_int(DType::i64, 3))));
  }
  const Words words = random_words(b, in, node, b.shift_right(e, 1));
  const Scalar half = b.bit_and(e, b.constant_int(DType::i64, 1));
  return emit_uniform_f64(b, choose_word(b, words, half, 2, 0), choose_word(b, words, half, 2, 1));
}

}  // namespace

const ir::OpDef& random_uniform_op() {
  static const ir::OpDef op{
      .name = "random_uniform",
      .doc =
          "Uniform in [0, 1): word e % 4 of Philox block e / 4 for element e (f64: two words of block e / "
          "2).",
      .kind = ir::OpKind::random,
      .arity = 2,
      .typed = true,
      .attrs = {{"stream", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .body = body,
      .samples =
          [] {
            return random_samples({{"stream", std::int64_t{3}}}, {DType::f32, DType::f64});
          },
  };
  return op;
}

}  // namespace tightloop::ops
