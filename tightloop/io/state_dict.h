// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/io/safetensors.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::io {

/// A named place that wants an array of this type: a parameter, a buffer, an optimizer's state.
struct Slot {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;
};

/// How a file fits a list of slots.
struct LoadReport {
  std::vector<std::string> missing;     ///< slots that the file lacks
  std::vector<std::string> unexpected;  ///< tensors that no slot wants
  std::vector<std::string> mis_shaped;  ///< "name: f32[2, 3] in the file, f32[3, 2] wanted"
  std::vector<std::string> mis_typed;   ///< conversions that are refused, printed in the same way
  std::vector<std::string> rounded;     ///< conversions that lose bits, printed in the same way
  std::size_t matched = 0;              ///< tensors that have a slot of their name

  /// Nothing missing, unexpected, mis-shaped or mis-typed.
  bool fits() const;
  /// One line a kind with every name; "" when there is nothing to say.
  std::string text() const;
};

/// Compares names, shapes and types. A float goes into any float (bf16 → f32 widens exactly; f32 → bf16
/// rounds to nearest even and is reported as rounded), an integer into a wider integer, everything
/// into itself. Integers never go into a float slot, nor floats into an integer slot.
LoadReport load_report(const TensorFile& file, const std::vector<Slot>& slots);

struct LoadOptions {
  /// Missing and unexpected names are errors. Shapes and types that do not fit always are.
  bool strict = true;
};

struct LoadedState {
  std::vector<std::optional<Array>> values;  ///< one a slot, of its dtype and dims; empty when missing
  LoadReport report;
};

/// Matches `file` (called `source` in messages) to `slots`. Values share the file's bytes where nothing
/// is converted. Throws Error with the report's text when it does not fit, when file and slots have no
/// name in common, and when a finite value would become infinite in a smaller float.
LoadedState load_state(const TensorFile& file, const std::vector<Slot>& slots, const std::string& source,
                       LoadOptions options = {});

}  // namespace tightloop::io
