// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop {

/// Random numbers for functions of tensors. Its state, the number of draws so far, is a variable: outside a
/// trace each call draws, and in a compiled function each call of that draws anew.
///
///     tl::Generator random(7);
///     auto noisy = tl::compile([&](Tensor x) { return x + 0.1 * random.normal(x.shape()); });
///
/// What comes out depends on the seed and the number of the draw alone: draw in statements of their own, for
/// C++ does not say which argument of a call is made first. Copies share their state.
class Generator {
 public:
  /// `name`: under which states() are saved.
  explicit Generator(std::uint64_t seed = 0, const std::string& name = "random");

  /// [low, high), f32 or f64
  Tensor uniform(Shape shape, double low = 0, double high = 1, DType dtype = DType::f32) const;
  /// Mean 0, variance 1, f32 or f64
  Tensor normal(Shape shape, DType dtype = DType::f32) const;
  /// bool, true with probability p
  Tensor bernoulli(Shape shape, double p) const;
  /// i64, low .. high - 1 with equal probability. Throws Error unless low < high and high - low is at most
  /// 2^32.
  Tensor integers(Shape shape, std::int64_t low, std::int64_t high) const;
  /// logits [..., C] → classes i64 [...], drawn with the probabilities softmax(logits). Throws Error for
  /// integers.
  Tensor categorical(const Tensor& logits) const;

  /// i64[]
  Tensor seed() const { return seed_.value(); }
  /// The number of this draw, i64[]. What draws by seed and step itself takes these: layers such as dropout,
  /// `tl::nn::Context training(true, random.seed(), random.next())`.
  Tensor next() const;
  /// Begins anew with another seed, without a new trace.
  void reseed(std::uint64_t seed) const;

  /// Seed and draws so far, "<name>.seed" and "<name>.draws": what a loop needs to go on later.
  std::vector<Variable> states() const { return {seed_, draws_}; }

 private:
  Variable seed_, draws_;
};

}  // namespace tightloop
