// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/array.h>
#include <tightloop/ir/literal.h>

#include <cstring>

namespace tightloop {
namespace ir {
namespace {

TensorType infer(const InferArgs& args) {
  if (!args.declared->shape.is_static())
    throw Error("literal: data has no symbolic dims, but " + to_string(*args.declared) + " came");
  return *args.declared;
}

void evaluate(const EvalArgs& args) {
  require(args.node.value != nullptr, "literal without data");
  const Array& value = *args.node.value;
  if (value.dtype() == args.out.dtype()) {
    if (value.size_bytes() != 0) std::memcpy(args.out.bytes(), value.bytes(), value.size_bytes());
    return;
  }
  for (std::int64_t i = 0; i < value.count(); ++i) args.out.set(i, value.at(i));
}

}  // namespace

const OpDef& literal_op() {
  static const OpDef op{
      .name = "literal",
      .doc = "A leaf that holds data.",
      .kind = OpKind::source,
      .arity = 0,
      .typed = true,
      .infer = infer,
      .evaluate = evaluate,
  };
  return op;
}

}  // namespace ir

Tensor::Tensor(Array value) {
  auto node = std::make_shared<ir::Node>();
  node->op = &ir::literal_op();
  std::vector<Dim> dims(value.dims().begin(), value.dims().end());
  node->type = {value.dtype(), Shape(std::move(dims))};
  node->scope = ir::Scope::path();
  node->value = std::make_shared<const Array>(std::move(value));
  node_ = std::move(node);
}

}  // namespace tightloop
