// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <limits>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const DType dtype = a.declared->dtype;
  if (is_floating(dtype)) return *a.declared;
  const ir::AttrValue& value = *a.attrs.find("value");
  expect(a, std::holds_alternative<std::int64_t>(value), "an integer type needs a whole value");
  const auto [low, high] = integer_range(dtype);
  const std::int64_t v = std::get<std::int64_t>(value);
  expect(a, low <= v && v <= high, "value " + std::to_string(v) + " is outside the type's range");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const ir::AttrValue& value = *a.node.attrs.find("value");
  for (std::int64_t i = 0; i < a.out.count(); ++i) {
    if (std::holds_alternative<double>(value))
      a.out.set(i, std::get<double>(value));
    else
      a.out.set_int(i, std::get<std::int64_t>(value));
  }
}

Samples samples() {
  return {{.inputs = {}, .attrs = {{"value", 0.5}}, .declared = {{DType::f32, {Dim::batch(), 3}}}},
          {.inputs = {}, .attrs = {{"value", -1e300}}, .declared = {{DType::f64, {}}}},
          {.inputs = {},
           .attrs = {{"value", std::numeric_limits<double>::quiet_NaN()}},
           .declared = {{DType::f32, {1}}}},
          {.inputs = {},
           .attrs = {{"value", std::numeric_limits<std::int64_t>::max()}},
           .declared = {{DType::i64, {2}}}},
          {.inputs = {}, .attrs = {{"value", std::int64_t{1}}}, .declared = {{DType::boolean, {17}}}}};
}

}  // namespace

const ir::OpDef& constant_op() {
  static const ir::OpDef op{
      .name = "constant",
      .doc = "One value everywhere in the declared shape.",
      .kind = ir::OpKind::source,
      .arity = 0,
      .typed = true,
      .attrs = {{"value", 0.0}},
      .infer = infer,
      .evaluate = evaluate,
      .samples = samples,
  };
  return op;
}

}  // namespace tightloop::ops
