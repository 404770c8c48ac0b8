// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const auto stream = a.attrs.at<std::int64_t>("stream"), word = a.attrs.at<std::int64_t>("word");
  for (const Tensor& t : a.inputs)
    expect(a, t.dtype() == DType::i64 && t.shape() == a.inputs[0].shape(),
           "seed, step and index must be i64 of one shape");
  expect(a, stream >= 0 && stream <= 0xffffffff, "stream must fit 32 bits");
  expect(a, word >= 0 && word < 4, "word must be 0..3");
  return {DType::f32, a.inputs[0].shape()};
}

void evaluate(const EvalArgs& a) {
  const auto stream = static_cast<std::uint32_t>(a.node.attrs.at<std::int64_t>("stream"));
  const auto word = static_cast<std::size_t>(a.node.attrs.at<std::int64_t>("word"));
  const auto input = [&](std::size_t k, std::int64_t e) {
    return static_cast<std::uint64_t>(a.inputs[k]->int_at(e));
  };
  for (std::int64_t e = 0; e < a.out.count(); ++e) {
    const auto words = philox_block(input(0, e), stream, input(1, e), input(2, e));
    a.out.set(e, static_cast<double>(uniform_f32(words[word])));
  }
}

Scalar body(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const Words words = random_words(b, in.first(2), node, in[2]);
  return emit_uniform_f32(b, words[static_cast<std::size_t>(node.attrs.at<std::int64_t>("word"))]);
}

}  // namespace

const ir::OpDef& random_at_op() {
  static const ir::OpDef op{
      .name = "random_at",
      .doc =
          "Uniform in [0, 1), f32, of one word of the Philox block that (seed, stream, step, index) name, "
          "element by element: what is drawn for a sample does not depend on where it stands in a batch.",
      .kind = ir::OpKind::elementwise,
      .arity = 3,
      .attrs = {{"stream", std::int64_t{0}}, {"word", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .body = body,
      .samples =
          [] {
            Samples all;
            for (const Shape& shape : {Shape{257}, Shape{Dim::batch(), 3}, Shape{}})
              for (std::int64_t word = 0; word < 4; ++word) {
                const TensorType type{DType::i64, shape};
                all.push_back({.inputs = {type, type, type},
                               .attrs = {{"stream", std::int64_t{9}}, {"word", word}},
                               .low = 0,
                               .high = 1e9});
              }
            return all;
          },
  };
  return op;
}

}  // namespace tightloop::ops
