// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>

#include <string>

namespace tightloop {

/// State of a layer that no gradient trains: running statistics, counters. Saved and loaded with the
/// parameters under PyTorch's names, but not counted among them, not given to optimizers and not frozen.
/// Used as a Tensor.
class Buffer {
 public:
  explicit Buffer(Array initial);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;

  const TensorType& type() const { return variable_.type(); }
  const std::string& name() const { return variable_.name(); }
  void set_name(const std::string& name) { variable_.rename(name); }

  Tensor value() const { return variable_.value(); }
  operator Tensor() const { return value(); }  // NOLINT(google-explicit-constructor): used as a tensor.
  Array array() const { return variable_.array(); }

  /// What a layer calls in training: the buffer's next value, converted to its dtype. While a step or
  /// function is traced it becomes part of the graph and each run updates the buffer in place; otherwise it
  /// is computed at once. Throws Error when the shape differs.
  void update(const Tensor& next) const;
  /// Throws Error unless `value` has this type exactly.
  void assign(const Array& value) const { variable_.set(value.clone()); }
  /// Another type from now on, as Parameter::to(); counters stay as they are.
  void to(DType dtype);
  /// Back to the initial value.
  void reset() const { variable_.set(initial_.clone()); }

  const Variable& variable() const { return variable_; }

 private:
  Array initial_;
  Variable variable_;
};

}  // namespace tightloop
