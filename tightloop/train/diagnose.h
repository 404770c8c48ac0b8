// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/bound_step.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tightloop::train {

/// Runs step `step` by the interpreter from the program's present states and tells the first op whose result
/// is not finite although what it read was: "op log in layer 'lin' (f32[B, 1])", or the input and row that
/// hold such a value, or the parameter that is not finite at the start of the step. "" when all is finite.
std::string first_non_finite(BoundStep& bound, const Sampling& sampling, std::int64_t step,
                             std::uint64_t seed);

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
