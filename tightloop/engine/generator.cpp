// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/generator.h>
#include <tightloop/ops/functions.h>

#include <utility>

namespace tightloop {
namespace {

Array whole(std::uint64_t n) { return Array::scalar(static_cast<std::int64_t>(n)); }

}  // namespace

Generator::Generator(std::uint64_t seed, const std::string& name)
    : seed_(whole(seed), name + ".seed"), draws_(whole(0), name + ".draws") {}

Tensor Generator::next() const {
  Tensor number = draws_.value();
  draws_.assign(number + 1.0);
  return number;
}

void Generator::reseed(std::uint64_t seed) const {
  seed_.set(whole(seed));
  draws_.set(whole(0));
}

Tensor Generator::uniform(Shape shape, double low, double high, DType dtype) const {
  const Tensor draw = random_uniform(std::move(shape), seed(), next(), 0, dtype);
  if (low == 0 && high == 1) return draw;
  return draw * (high - low) + low;
}

Tensor Generator::normal(Shape shape, DType dtype) const {
  return random_normal(std::move(shape), seed(), next(), 0, dtype);
}

Tensor Generator::bernoulli(Shape shape, double p) const {
  return random_bernoulli(std::move(shape), p, seed(), next(), 0);
}

Tensor Generator::integers(Shape shape, std::int64_t low, std::int64_t high) const {
  // Unsigned: the distance of two i64 fits.
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (low >= high || range > (std::uint64_t{1} << 32))
    throw Error("Generator::integers: low must be below high and at most 2^32 away, got " +
                std::to_string(low) + " and " + std::to_string(high));
  const Tensor draw = random_uniform(std::move(shape), seed(), next(), 0, DType::f64);
  return cast(draw * static_cast<double>(range), DType::i64) + Tensor(Array::scalar(low));
}

Tensor Generator::categorical(const Tensor& logits) const {
  if (!is_compute_float(logits.dtype()) || logits.rank() == 0)
    throw Error("Generator::categorical: logits must be f32 or f64 [..., classes], got " +
                to_string(logits.type()));
  // The largest of logits + Gumbel noise is distributed as softmax(logits).
  const Tensor u = uniform(logits.shape(), 0, 1, logits.dtype());
  return argmax(logits - log(-log(u)), static_cast<std::int64_t>(logits.rank()) - 1);
}

}  // namespace tightloop
