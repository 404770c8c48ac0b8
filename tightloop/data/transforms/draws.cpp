// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/data/transforms/draws.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_data.h>

#include <algorithm>
#include <numbers>

namespace tightloop::data {
namespace {

/// Apart from the streams of dropout and the like, which count from 0.
constexpr std::int64_t kFirstStream = 0x74720000;
constexpr std::int64_t kStreamsOfOne = 64;

}  // namespace

Draws::Draws(Tensor seed, Tensor epoch, Tensor samples, std::int64_t place)
    : seed_(std::move(seed)),
      epoch_(std::move(epoch)),
      samples_(std::move(samples)),
      stream_(kFirstStream + kStreamsOfOne * place) {}

std::int64_t Draws::next_stream() {
  word_ = 0;
  return stream_++;
}

Tensor Draws::uniform() {
  const Tensor out = random_at(seed_, epoch_, samples_, stream_, word_++);
  if (word_ == 4) next_stream();
  return out;
}

Tensor Draws::uniform(double low, double high) { return uniform() * (high - low) + low; }

Tensor Draws::whole(const Tensor& count) {
  return minimum(cast(uniform() * cast(count, DType::f32), DType::i64), count - 1.0);
}

Tensor Draws::chance(double p) { return uniform() < p; }

Tensor Draws::elements(std::int64_t count) const {
  const Shape shape{samples_.dim(0), count};
  return broadcast_to(unsqueeze(samples_ * scalar(static_cast<double>(count), DType::i64), 1), shape) +
         iota(shape, 1);
}

Tensor Draws::uniforms(std::int64_t count) {
  if (word_ != 0) next_stream();
  return random_at(seed_, epoch_, elements(count), next_stream());
}

Tensor Draws::normals(std::int64_t count) {
  if (word_ != 0) next_stream();
  const std::int64_t stream = next_stream();
  const Tensor element = elements(count);
  const Tensor u = random_at(seed_, epoch_, element, stream, 0);
  const Tensor v = random_at(seed_, epoch_, element, stream, 1);
  return sqrt(-2.0 * log(1.0 - u)) * cos(v * (2 * std::numbers::pi));
}

SampleDraws::SampleDraws(const SampleKey& key, std::int64_t sample, std::int64_t place)
    : key_(key), sample_(sample), stream_(kFirstStream + kStreamsOfOne * place) {}

float SampleDraws::uniform() {
  const auto words =
      philox_block(key_.seed, static_cast<std::uint32_t>(stream_), static_cast<std::uint64_t>(key_.epoch),
                   static_cast<std::uint64_t>(sample_));
  const float out = uniform_f32(words[word_++]);
  if (word_ == words.size()) ++stream_, word_ = 0;
  return out;
}

float SampleDraws::uniform(double low, double high) {
  return uniform() * static_cast<float>(high - low) + static_cast<float>(low);
}

std::int64_t SampleDraws::whole(std::int64_t count) {
  return std::min(static_cast<std::int64_t>(uniform() * static_cast<float>(count)), count - 1);
}

}  // namespace tightloop::data
