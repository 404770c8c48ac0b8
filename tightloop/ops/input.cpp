// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
const ir::OpDef& input_op() {
  static const ir::OpDef op{
      .name = "input",
      .doc = "A value given from outside; the roles are listed in ir/graph.h. Backends supply it.",
      .kind = ir::OpKind::source,
      .arity = 0,
      .typed = true,
      .attrs = {{"name", std::string()}, {"role", std::string()}},
      .infer = [](const InferArgs& a) { return *a.declared; },
      .samples =
          [] {
            return Samples{{.inputs = {},
                            .attrs = {{"name", std::string("x")}, {"role", std::string("argument")}},
                            .declared = {{DType::f32, {Dim::batch(), 3}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
