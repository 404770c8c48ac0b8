// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/ir/tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace tightloop {

/// A named value that changes: a weight, a slot of an optimizer, a counter. Copies are the same variable.
///
/// While a function is traced (engine/trace.h, engine/compile.h) value() is an input of role state of the
/// graph, and assign() makes the graph's next value of that state: the compiled function then updates the
/// variable in place. Otherwise value() is the current value and assign() runs what the tensor needs and
/// keeps the result.
class Variable {
 public:
  Variable() = default;  ///< empty: any use but assignment and defined() throws InternalError
  explicit Variable(Array initial, std::string name = "");

  bool defined() const { return cell_ != nullptr; }
  const TensorType& type() const;
  const std::string& name() const;
  void rename(std::string name) const;

  /// The current value; the same node until it changes, so that gradients() can be asked for it.
  Tensor value() const;
  operator Tensor() const { return value(); }
  /// Throws Error when `next` is of another type.
  void assign(const Tensor& next) const;

  /// The value outside any trace. Later updates do not change it.
  Array array() const;
  /// Sets the value outside any trace, sharing its bytes; throws Error when of another type.
  void set(Array value) const;

  /// The same for all copies: what the variable is known by.
  const void* id() const { return cell_.get(); }

  struct Cell;
  /// Memory for a program that updates the variable in place: bytes nobody else looks at.
  Array exclusive() const;
  /// The bytes themselves, for a program that only reads.
  Array shared() const;

 private:
  Cell& cell() const;
  std::shared_ptr<Cell> cell_;
};

}  // namespace tightloop
