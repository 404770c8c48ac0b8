// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/forward/ast.h>
#include <tightloop/train/forward/term.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::train::forward {

/// Where the trace gets its layers from.
class Layers {
 public:
  virtual ~Layers() = default;
  virtual bool knows(std::string_view kind) const = 0;
  virtual std::vector<std::string> kinds() const = 0;
  /// Applies the layer called `name` of this kind to the leading tensors among `terms`; the rest are options,
  /// and perhaps `reuse`, the name of an earlier layer of another kind: parameters of equal name and type
  /// are then its own. A second call with a name is the same layer.
  virtual Tensor call(const std::string& kind, const std::string& name, const std::vector<Term>& terms,
                      const std::vector<std::string>& keywords, std::size_t at) = 0;
};

using Names = std::vector<std::pair<std::string, Tensor>>;

/// Runs the statements with the inputs and parameters by name and returns the last statement's value.
/// Layers without `name=` are called by kind and order: linear0, linear1, …; `reuse=` applies an earlier one.
/// Throws Error with a caret; errors of ops and layers get the place of their call.
Tensor trace(const std::vector<Statement>& program, const Text& text, const Names& inputs,
             const Names& parameters, Layers& layers);

}  // namespace tightloop::train::forward
