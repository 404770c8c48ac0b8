// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>
#include <tightloop/nn/init.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tightloop {

/// A variable that training changes: its type, how it starts, and whether it is frozen. Used as a Tensor.
/// It moves but does not copy; share() makes another handle to the same parameter.
class Parameter {
 public:
  /// Zero.
  explicit Parameter(Shape dims, DType dtype = DType::f32);
  /// Has no value until initialize() (Module::initialize does it for all) or assign(). Throws Error for
  /// symbolic dims and types that are not floating.
  Parameter(Shape dims, nn::Initializer initializer, DType dtype = DType::f32);
  Parameter(Parameter&&) = default;
  Parameter& operator=(Parameter&&) = default;

  /// The same parameter in another place: `decoder.weight = embedding.weight.share();` ties the two. It has
  /// one value, is updated once, and appears in the state dict under both paths.
  Parameter share() const { return Parameter(state_); }

  const TensorType& type() const { return variable().type(); }
  const std::vector<std::int64_t>& dims() const { return state().dims; }
  std::int64_t count() const { return product(dims()); }
  const std::string& name() const { return variable().name(); }
  void set_name(const std::string& name) { variable().rename(name); }

  /// Throws Error before the parameter has a value.
  Tensor value() const;
  operator Tensor() const { return value(); }  // NOLINT(google-explicit-constructor): used as a tensor.
  Array array() const;
  bool has_value() const { return state().has_value; }

  void initialize(nn::Draw draw);
  /// Throws Error unless `value` has this type exactly: no reshaping, no conversion.
  void assign(const Array& value);

  /// Another type from now on; the value is converted. A new variable: not while programs use the old one.
  /// Throws Error for types that are not floating.
  void to(DType dtype);

  bool frozen() const { return state().frozen; }
  void freeze(bool frozen = true) { state().frozen = frozen; }
  /// What holds the value; known by its id() also to programs.
  const Variable& variable() const { return state().variable; }

 private:
  struct State {
    Variable variable;
    std::vector<std::int64_t> dims;
    nn::Initializer initializer;
    bool has_value = false;
    bool frozen = false;
  };
  explicit Parameter(std::shared_ptr<State> state) : state_(std::move(state)) {}
  State& state() const {
    require(state_ != nullptr, "use of a Parameter that was moved from");
    return *state_;
  }
  void check_value() const;

  std::shared_ptr<State> state_;
};

}  // namespace tightloop
