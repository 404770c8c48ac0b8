// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

#include <algorithm>

namespace tightloop::ops {
namespace {

/// The dims of the draw that the result is a window of.
std::vector<std::int64_t> drawn_dims(const ir::Node& node, std::vector<std::int64_t> dims) {
  const Ints within = node.attrs.get<Ints>("within", {});
  std::copy(within.begin(), within.end(), dims.end() - static_cast<std::ptrdiff_t>(within.size()));
  return dims;
}

void check_window(const InferArgs& a) {
  const Ints within = a.attrs.get<Ints>("within", {}), start = a.attrs.get<Ints>("start", {});
  const Shape& shape = a.declared->shape;
  expect(a, within.size() == start.size() && within.size() <= shape.rank(),
         "within and start must have one number for each of the last dims");
  for (std::size_t i = 0; i < within.size(); ++i) {
    const Dim& d = shape[shape.rank() - within.size() + i];
    expect(a, d.is_static() && start[i] >= 0 && start[i] + d.factor <= within[i],
           "the window must lie within");
  }
}

TensorType infer(const InferArgs& a) {
  const double p = number(a.attrs, "p");
  expect(a, a.declared->dtype == DType::boolean, "gives bool");
  expect(a, p >= 0 && p <= 1, "p must be in [0, 1]");
  check_window(a);
  return random_type(a);
}

void evaluate(const EvalArgs& a) {
  const auto p = static_cast<float>(number(a.node.attrs, "p"));
  const auto strides = row_major_strides(drawn_dims(a.node, a.out.dims()));
  const Ints start = a.node.attrs.get<Ints>("start", {});
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    offset += start[i] * strides[strides.size() - start.size() + i];
  walk(a.out.dims(), strides, offset, [&](std::int64_t e, std::int64_t drawn) {
    const auto i = static_cast<std::uint64_t>(drawn);
    a.out.set_int(e, uniform_f32(random_block(a, i / 4)[i % 4]) < p);
  });
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
      .doc =
          "true with probability p: where the f32 uniform of the same element is below p. With `within`, the "
          "part "
          "from `start` on of a draw whose last dims are these.",
      .kind = ir::OpKind::random,
      .arity = 2,
      .typed = true,
      .attrs = {{"p", 0.5}, {"stream", std::int64_t{0}}, {"within", Ints{}, false}, {"start", Ints{}, false}},
      .infer = infer,
      .evaluate = evaluate,
      .body = body,
      .samples =
          [] {
            Samples all = random_samples({{"p", 0.3}, {"stream", std::int64_t{5}}}, {DType::boolean});
            const ir::Attrs window{
                {"p", 0.3}, {"stream", std::int64_t{5}}, {"within", Ints{9, 40}}, {"start", Ints{2, 7}}};
            for (const Shape& shape : {Shape{3, 33}, Shape{Dim::batch(), 2, 7, 17}})
              all.push_back({.inputs = all[0].inputs,
                             .attrs = window,
                             .declared = {{DType::boolean, shape}},
                             .low = 0,
                             .high = 1e9});
            return all;
          },
  };
  return op;
}

}  // namespace tightloop::ops
