// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/samples.h>
#include <tightloop/ir/tensor.h>

#include <cstdint>

namespace tightloop::data {

/// The random numbers of one transform: functions of (seed, epoch, sample) alone, so that neither the batch
/// nor the threads nor the order of the rows change an image, and each epoch draws anew.
class Draws {
 public:
  /// `seed`, `epoch`: i64[]; `samples`: i64[B], the number of each sample in the whole data set; `place`: the
  /// transform's place in its list, which keeps its numbers apart from those of others.
  Draws(Tensor seed, Tensor epoch, Tensor samples, std::int64_t place);

  /// f32[B] in [0, 1), in [low, high); other numbers at each call.
  Tensor uniform();
  Tensor uniform(double low, double high);
  /// i64[B]: 0 .. count - 1, `count` i64, [B] or [].
  Tensor whole(const Tensor& count);
  /// bool[B], true with probability p.
  Tensor chance(double p);
  /// f32[B, count]: uniform in [0, 1), and standard normal.
  Tensor uniforms(std::int64_t count);
  Tensor normals(std::int64_t count);

 private:
  Tensor elements(std::int64_t count) const;
  std::int64_t next_stream();

  Tensor seed_, epoch_, samples_;
  std::int64_t stream_;
  std::int64_t word_ = 0;
};

/// The numbers that Draws::uniform() gives for one sample, one after the other: for what is done to it before
/// the step sees it.
class SampleDraws {
 public:
  SampleDraws(const SampleKey& key, std::int64_t sample, std::int64_t place);
  float uniform();
  /// low + (high - low) · uniform(), rounded as the step does.
  float uniform(double low, double high);
  /// 0 .. count - 1
  std::int64_t whole(std::int64_t count);

 private:
  SampleKey key_;
  std::int64_t sample_;
  std::int64_t stream_;
  std::size_t word_ = 0;
};

}  // namespace tightloop::data
