// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data that is made one sample at a time: decoded, read from a file that is larger than memory, or computed.
#include <tightloop/base/array.h>
#include <tightloop/data/dataset.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tightloop::data {

/// What the random draws of a sample depend on, beside its number.
struct SampleKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;  ///< from 0; in an evaluation always 0
};

/// A named part of each sample.
struct SampleField {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims = {};  ///< of one sample: a batch is [B, dims...]

  std::size_t bytes() const;
};

/// Samples that are made when they are asked for. get() and name() are called by several threads at once.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual std::int64_t size() const = 0;
  /// At least one; the last is the target unless the job or the trainer says otherwise.
  virtual const std::vector<SampleField>& fields() const = 0;
  /// Writes the fields of sample `i` (0 .. size()) to out[0], out[1], ... whose bytes are those of fields().
  /// Depends on `i` and `key` alone. Whatever it throws names what is wrong; the loader adds name(i).
  virtual void get(std::int64_t i, const SampleKey& key, std::span<std::byte* const> out) const = 0;
  /// What messages call sample `i`: a file, or "sample 7" (counted from 1).
  virtual std::string name(std::int64_t i) const;
  /// The class of each sample where it is known without making them; else empty.
  virtual std::vector<std::int64_t> labels() const { return {}; }
};

/// A data set of one row of zeros with the fields of `samples`: shows names and types.
Dataset prototype(const Samples& samples);

}  // namespace tightloop::data
