// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const double p = number(a.attrs, "p");
  expect(a, a.declared->dtype == DType::boolean, "gives bool");
  expect(a, p >= 0 && p <= 1, "p must be in [0, 1]");
  return random_type(a);
}

void evaluate(const EvalArgs& a) {
  const auto p = static_cast<float>(number(a.node.attrs, "p"));
  for (std::int64_t e = 0; e < a.out.count(); ++e) {
    const auto i = static_cast<std::uint64_t>(e);
    a.out.set_int(e, uniform_f32(random_block(a, i / 4)[i % 4]) < p);
  }
}

Scalar body(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const Scalar e = b.element_index();
  const Words words = random_words(b, in, node, b.shift_right(e, 2));
  const Scalar u = emit_uniform_f32(b, choose_word(b, words, b.bit_and(e, b.constant_int(DType::i64, 3))));
  return b.compare(ir::Compare::lt, u, b.like(u, number(node.attrs, "p")));
}

}  // namespace

const ir::OpDef& random_bernoulli_op() {
  static const ir::OpDef op{
      .name = "random_bernoulli",
      .doc = "true with probability p: where the f32 uniform of the same element is below p.",
      .kind = ir::OpKind::random,
      .arity = 2,
      .typed = true,
      .attrs = {{"p", 0.5}, {"stream", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .body = body,
      .samples =
          [] {
            return random_samples({{"p", 0.3}, {"stream", std::int64_t{5}}}, {DType::boolean});
          },
  };
  return op;
}

}  // namespace tightloop::ops
