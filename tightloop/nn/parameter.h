// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>
#include <tightloop/nn/init.h>

#include <string>
#include <vector>

namespace tightloop {

/// A variable that training changes: its type, how it starts, and whether it is frozen. Used as a Tensor.
class Parameter {
 public:
  /// Zero.
  explicit Parameter(Shape dims, DType dtype = DType::f32);
  /// Has no value until initialize() (Module::initialize does it for all) or assign(). Throws Error for
  /// symbolic dims and types that are not floating.
  Parameter(Shape dims, nn::Initializer initializer, DType dtype = DType::f32);
  Parameter(Parameter&&) = default;
  Parameter& operator=(Parameter&&) = default;

  const TensorType& type() const { return variable_.type(); }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t count() const { return product(dims_); }
  const std::string& name() const { return variable_.name(); }
  void set_name(const std::string& name) { variable_.rename(name); }

  /// Throws Error before the parameter has a value.
  Tensor value() const;
  operator Tensor() const { return value(); }  // NOLINT(google-explicit-constructor): used as a tensor.
  Array array() const;
  bool has_value() const { return has_value_; }

  void initialize(nn::Draw draw);
  /// Throws Error unless `value` has this type exactly: no reshaping, no conversion.
  void assign(const Array& value);

  bool frozen() const { return frozen_; }
  void freeze(bool frozen = true) { frozen_ = frozen; }
  /// What holds the value; known by its id() also to programs.
  const Variable& variable() const { return variable_; }

 private:
  void check_value() const;

  Variable variable_;
  std::vector<std::int64_t> dims_;
  nn::Initializer initializer_;
  bool has_value_ = false;
  bool frozen_ = false;
};

}  // namespace tightloop
