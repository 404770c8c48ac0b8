// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const auto axis = a.attrs.at<std::int64_t>("axis");
  const auto rank = static_cast<std::int64_t>(a.declared->shape.rank());
  expect(a, axis >= 0 && axis < rank, "axis " + std::to_string(axis) + " is outside the shape");
  expect(a, a.declared->dtype != DType::boolean, "does not count in bool");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  std::vector<std::int64_t> strides(a.out.rank(), 0);
  strides[static_cast<std::size_t>(a.node.attrs.at<std::int64_t>("axis"))] = 1;
  walk(a.out.dims(), strides, 0, [&](std::int64_t i, std::int64_t value) { a.out.set_int(i, value); });
}

}  // namespace

const ir::OpDef& iota_op() {
  static const ir::OpDef op{
      .name = "iota",
      .doc = "0, 1, 2, ... along `axis` of the declared shape.",
      .kind = ir::OpKind::source,
      .arity = 0,
      .typed = true,
      .attrs = {{"axis", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .samples =
          [] {
            return Samples{
                {.inputs = {},
                 .attrs = {{"axis", std::int64_t{1}}},
                 .declared = {{DType::i64, {Dim::batch(), 3}}}},
                {.inputs = {}, .attrs = {{"axis", std::int64_t{0}}}, .declared = {{DType::f32, {17, 3}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
