// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const double p = a.attrs.at<double>("p");
  expect(a, a.declared->dtype == DType::boolean, "gives bool");
  expect(a, p >= 0 && p <= 1, "p must be in [0, 1]");
  return random_type(a);
}

void evaluate(const EvalArgs& a) {
  const auto p = static_cast<float>(a.node.attrs.at<double>("p"));
  for (std::int64_t e = 0; e < a.out.count(); ++e) {
    const auto i = static_cast<std::uint64_t>(e);
    a.out.set_int(e, uniform_f32(random_block(a, i / 4)[i % 4]) < p);
  }
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
      .samples =
          [] {
            return random_samples({{"p", 0.3}, {"stream", std::int64_t{5}}}, {DType::boolean});
          },
  };
  return op;
}

}  // namespace tightloop::ops
