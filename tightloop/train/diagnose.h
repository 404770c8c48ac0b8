// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/bound_step.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tightloop::train {

/// Where the first value that is not finite came from.
struct Origin {
  enum class Kind { none, operation, data, state };
  Kind kind = Kind::none;
  std::string text = {};  ///< "op log in 'lin' of type f32[B, 1]: nan"
};

/// Runs step `step` by the interpreter from the program's present states and tells the first op whose result
/// is not finite although what it read was, or the input and row that hold such a value, or the state that is
/// not finite at the start of the step. Kind none when all is finite.
Origin first_non_finite(BoundStep& bound, const Sampling& sampling, std::int64_t step, std::uint64_t seed);

/// "nan" for either sign.
std::string value_text(double value);

/// How the compiled step differs from the interpreter.
struct Difference {
  std::string tensor;  ///< the first output that differs; the values are of its worst element
  double compiled = 0;
  double interpreted = 0;
  std::int64_t element = 0;
};

/// Runs step `step` both ways from the present states, leaving the compiled result in place. An output
/// differs when the error, as a length over all its elements, is more than `tolerance` times the length of
/// the step's change of it: an update rule that divides by a vanishing gradient may be far off in single
/// elements.
std::optional<Difference> verify_step(BoundStep& bound, const Sampling& sampling, std::int64_t step,
                                      std::uint64_t seed, double tolerance = 1e-3);

}  // namespace tightloop::train
