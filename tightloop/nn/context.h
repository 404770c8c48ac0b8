// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer or loss may ask while it is being traced: training or evaluation, random streams, and where to
// put checks of the data.
#include <tightloop/ir/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::nn {

/// A rule about the data of a batch that only its values can break (a label out of range).
struct Check {
  Tensor row;        ///< i64[]: the first row of the batch that breaks the rule, or -1
  Tensor value;      ///< f64[]: the value found there; meaningless when row is -1
  std::string what;  ///< "cross_entropy: target"
  std::string rule;  ///< "must be 0..4 (5 classes)"
  /// Over 0: the rule is about the batch as a whole, which must have at least so many rows. The message then
  /// is "what: rule".
  std::int64_t least_rows = 0;

  /// "cross_entropy: target -1 in row 17 must be 0..4 (5 classes)"
  std::string text(std::int64_t at, double found) const;
};

/// While it lives, layers and losses of this thread are traced with it. Contexts nest. Without one, layers
/// evaluate and checks run at once.
class Context {
 public:
  /// `seed` and `step` are i64 scalars; layers that draw random numbers need them in training.
  explicit Context(bool training, Tensor seed = {}, Tensor step = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Null when there is none.
  static Context* current();
  static bool training() { return current() != nullptr && current()->training_; }

  /// Throw Error naming `layer` when the context was made without.
  const Tensor& seed(const char* layer) const;
  const Tensor& step(const char* layer) const;
  /// Another number each call, the same numbers for each trace.
  std::int64_t next_stream() { return next_stream_++; }

  /// Set by a training step, which asks for gradients of parameters alone: layers may then leave out what
  /// cancels, such as a bias in front of BatchNorm.
  bool parameters_only = false;

  /// What the traced code wants checked at each step.
  std::vector<Check> checks;

 private:
  bool training_;
  Tensor seed_, step_;
  std::int64_t next_stream_ = 0;
  Context* outer_;
};

/// Step number under which initialisers draw, so that they share no random block with a training step.
inline constexpr std::uint64_t kInitialStep = ~std::uint64_t{0};

/// Sees to it that no element of `bad` (bool [B, ...]) is true where `result` is used. A Context gets a
/// Check, which is all in evaluation and for the Trainer. Otherwise it throws Error at once when the values
/// are known, else returns `result` with NaN everywhere if any is bad.
Tensor checked(Tensor result, const Tensor& bad, const Tensor& values, std::string what, std::string rule);

/// The same for a rule about the number of rows: `rows` (a dim of the batch) must be at least `least`.
Tensor checked_rows(Tensor result, Dim rows, std::int64_t least, std::string what, std::string rule);

}  // namespace tightloop::nn
