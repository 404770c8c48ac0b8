// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tightloop::train {

/// In which types a model computes. Parameters and optimizer states are f32 at every level, and f64 where the
/// type is f64.
struct Precision {
  /// The names are those of NVIDIA's Apex.
  enum class Level : std::uint8_t {
    O0,  ///< all in f32
    O1,  ///< matrix products, convolutions and attention with operands of `type`; the rest follows, or is f32
    O2,  ///< what layers hand to each other is of `type` too; norms, softmax and the loss are f32
    O3,  ///< and so are the parameters after each update
  };
  DType type = DType::f32;  ///< f32, f64, bf16 or f16
  Level level = Level::O1;
  /// Also where this processor is no faster with `type`. Without it the run is f32 on such a processor, and
  /// on others so are products too small to gain.
  bool force = false;

  bool is_mixed() const { return size_of(type) < 4 && level != Level::O0; }
  friend bool operator==(const Precision&, const Precision&) = default;
};

/// "f32", "f64", "bf16", "f16" (level O1), or "O0" to "O3" (of f16). Throws Error for other names.
Precision precision_named(std::string_view name);
/// "f32", "bf16", "f16 O2"
std::string to_string(const Precision& p);

/// What a run on this machine computes in, and what its user should know of that ("" when it is as asked).
struct ChosenPrecision {
  Precision precision;
  std::string note;
};
ChosenPrecision on_this_machine(const Precision& asked);

}  // namespace tightloop::train
