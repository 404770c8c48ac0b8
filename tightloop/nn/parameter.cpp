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
  has_value_ = true;
}

Parameter::Parameter(Shape dims, nn::Initializer initializer, DType dtype)
    : variable_(zeros_of(static_dims(dims), dtype)),
      dims_(static_dims(dims)),
      initializer_(std::move(initializer)) {}

void Parameter::check_value() const {
  if (!has_value_)
    throw Error(
        fmt::format("parameter '{}' {} has no value yet: call initialize(seed) on its module, or load one",
                    name(), to_string(type())));
}

Tensor Parameter::value() const {
  check_value();
  return variable_.value();
}

Array Parameter::array() const {
  check_value();
  return variable_.array();
}

void Parameter::initialize(nn::Draw draw) {
  Array values(type().dtype, dims_);
  initializer_(values, draw);
  variable_.set(std::move(values));
  has_value_ = true;
}

void Parameter::assign(const Array& value) {
  variable_.set(value.clone());
  has_value_ = true;
}

}  // namespace tightloop
