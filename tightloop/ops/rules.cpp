// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/rules.h>

#include <limits>
#include <string>

namespace tightloop::ops {
namespace {

void expect_equal(const InferArgs& a) {
  for (const Tensor& t : a.inputs)
    expect(a, t.type() == a.inputs[0].type(), "inputs must have one shape and dtype");
}

}  // namespace

void refuse(const InferArgs& a, std::string_view rule) {
  std::string message = std::string(a.op.name) + ": " + std::string(rule) + "; got ";
  if (a.inputs.empty()) message += "no inputs";
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    message += (i ? ", " : "") + to_string(a.inputs[i].type());
  if (a.declared != nullptr) message += " for " + to_string(*a.declared);
  throw Error(message);
}

TensorType same_float(const InferArgs& a) {
  expect_equal(a);
  expect(a, is_compute_float(a.inputs[0].dtype()), "needs f32 or f64 (cast first)");
  return a.inputs[0].type();
}

TensorType same_number(const InferArgs& a) {
  expect_equal(a);
  const DType d = a.inputs[0].dtype();
  expect(a, is_compute_float(d) || is_integer(d), "needs f32, f64, i32, i64 or u8 (cast first)");
  return a.inputs[0].type();
}

TensorType comparison(const InferArgs& a) {
  expect_equal(a);
  const DType d = a.inputs[0].dtype();
  expect(a, is_compute_float(d) || !is_floating(d), "bf16 and f16 are storage types (cast first)");
  return {DType::boolean, a.inputs[0].shape()};
}

TensorType logical(const InferArgs& a) {
  expect_equal(a);
  expect(a, a.inputs[0].dtype() == DType::boolean, "needs bool");
  return a.inputs[0].type();
}

TensorType float_test(const InferArgs& a) { return {DType::boolean, same_float(a).shape}; }

std::pair<std::int64_t, std::int64_t> integer_range(DType dtype) {
  switch (dtype) {
    case DType::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case DType::i64:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    case DType::u8:
      return {0, 255};
    default:
      return {0, 1};
  }
}

double number(const ir::Attrs& attrs, std::string_view name) {
  const ir::AttrValue* value = attrs.find(name);
  require(value != nullptr, "number: no such attribute");
  if (std::holds_alternative<std::int64_t>(*value))
    return static_cast<double>(std::get<std::int64_t>(*value));
  return attrs.at<double>(name);
}

}  // namespace tightloop::ops
