// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/sampling.h>
#include <tightloop/data/samples.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tightloop::data {

inline constexpr int kAutomatic = -1;

struct LoaderOptions {
  /// Threads that make samples ahead; 0: the caller's thread alone. Automatic: one begins, its samples and
  /// the first steps are timed, and then there are as many as pay, or none.
  int workers = kAutomatic;
  int prefetch = 2;     ///< batches ahead for each worker
  bool skip = false;    ///< samples that cannot be made are left out of their batch and listed by skipped()
  bool repeat = false;  ///< every epoch is the first one again, as in evaluation
};

/// A batch in memory that the loader fills again later.
struct LoadedBatch {
  std::vector<Array> fields;  ///< in the order of Samples::fields(): [rows, ...]
  Array numbers;              ///< i64[rows]: the samples' numbers
  std::int64_t rows = 0;
};

/// Makes the batches of a sampling from samples: the same ones for any number of workers, from any step on.
/// Used by one thread at a time.
class Loader {
 public:
  /// Throws Error on options that make no sense.
  Loader(std::shared_ptr<const Samples> samples, const Sampling& sampling, const LoaderOptions& options = {});
  /// Waits for the samples that are being made.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Begins to make the batches from `step` on while the caller still has other things to do; without
  /// threads it does nothing.
  void begin(std::int64_t step);
  /// The batch of step `step`, valid until the next call. Steps that follow each other are made ahead; any
  /// other begins anew there. Throws Error for a sample that cannot be made, with its name and number; with
  /// skip, when no sample of the batch can be made.
  const LoadedBatch& at(std::int64_t step);

  /// Samples that were left out so far, by number: what was wrong.
  const std::map<std::int64_t, std::string>& skipped() const;
  /// Threads at work now.
  int workers() const;
  /// Seconds that callers of at() spent in it so far, making samples or waiting for them.
  double waited_s() const;

  /// The most bytes that buffers of batches of `batch` rows take.
  static std::size_t buffer_bytes(const Samples& samples, std::int64_t batch, const LoaderOptions& options);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Samples that were made once and stay in memory.
struct Loaded {
  Dataset data;
  std::vector<std::int64_t> numbers;            ///< of the samples, in the order of the rows
  std::map<std::int64_t, std::string> skipped;  ///< as Loader::skipped()
};

/// Makes the listed samples (none listed: all) by as many threads as there are cores, or `options.workers`.
/// `progress` is told from time to time how many of how many are made; false ends it. Throws Error as
/// Loader::at() does, and when it is ended.
Loaded load_all(const std::shared_ptr<const Samples>& samples, std::span<const std::int64_t> rows = {},
                LoaderOptions options = {},
                const std::function<bool(std::int64_t done, std::int64_t of)>& progress = {});

/// How many workers pay when a batch takes `fill_s` seconds to make by one thread, a step takes `step_s`, and
/// there are so many cores. 0 when handing a batch over would cost more than it saves.
int workers_that_pay(double fill_s, double step_s, int cores);

}  // namespace tightloop::data
