// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/parameter.h>

#include <fmt/format.h>

namespace tightloop {
namespace {

std::vector<std::int64_t> static_dims(const Shape& shape) {
  if (!shape.is_static())
    throw Error(fmt::format("parameter: dims must be numbers, got {}", to_string(shape)));
  return shape.values({});
}

Array zeros_of(const std::vector<std::int64_t>& dims, DType dtype) {
  if (!is_floating(dtype)) throw Error(fmt::format("parameter: must be floating, got {}", name(dtype)));
  return Array(dtype, dims);
}

}  // namespace

Parameter::Parameter(Shape dims, DType dtype) : Parameter(std::move(dims), nn::init::zeros(), dtype) {
  state().has_value = true;
}

Parameter::Parameter(Shape dims, nn::Initializer initializer, DType dtype)
    : state_(std::make_shared<State>(
          State{Variable(zeros_of(static_dims(dims), dtype)), static_dims(dims), std::move(initializer)})) {}

void Parameter::check_value() const {
  if (!has_value())
    throw Error(
        fmt::format("parameter '{}' {} has no value yet: call initialize(seed) on its module, or load one",
                    name(), to_string(type())));
}

Tensor Parameter::value() const {
  check_value();
  return variable().value();
}

Array Parameter::array() const {
  check_value();
  return variable().array();
}

void Parameter::initialize(nn::Draw draw) {
  Array values(type().dtype, dims());
  state().initializer(values, draw);
  variable().set(std::move(values));
  state().has_value = true;
}

void Parameter::to(DType dtype) {
  if (dtype == type().dtype) return;
  zeros_of({}, dtype);
  state().variable = Variable(variable().array().cast(dtype), name());
}

void Parameter::assign(const Array& value) {
  variable().set(value.clone());
  state().has_value = true;
}

}  // namespace tightloop
