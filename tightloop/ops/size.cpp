// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const auto& symbol = a.attrs.at<std::string>("symbol");
  expect(a, symbol == "B" || symbol == "N", "symbol must be B or N, not '" + symbol + "'");
  expect(a, a.attrs.at<std::int64_t>("factor") >= 0, "factor must not be negative");
  expect(a, a.declared->shape.is_scalar(), "is a scalar");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const bool batch = a.node.attrs.at<std::string>("symbol") == "B";
  a.out.set_int(0, a.node.attrs.at<std::int64_t>("factor") * (batch ? a.sizes.batch : a.sizes.rows));
}

}  // namespace

const ir::OpDef& size_op() {
  static const ir::OpDef op{
      .name = "size",
      .doc = "factor times the run-time value of the symbol B (rows of the batch) or N (rows of the data).",
      .kind = ir::OpKind::source,
      .arity = 0,
      .typed = true,
      .attrs = {{"factor", std::int64_t{1}}, {"symbol", std::string("B")}},
      .infer = infer,
      .evaluate = evaluate,
      .samples =
          [] {
            return Samples{{.inputs = {},
                            .attrs = {{"factor", std::int64_t{3}}, {"symbol", std::string("B")}},
                            .declared = {{DType::f32, {}}}},
                           {.inputs = {},
                            .attrs = {{"factor", std::int64_t{1}}, {"symbol", std::string("N")}},
                            .declared = {{DType::i64, {}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
