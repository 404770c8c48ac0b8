// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/perf_counters.h>
#include <tightloop/train/profile/profile.h>

#include <cstdint>
#include <vector>

namespace tightloop::train {

/// What a profiler's spans add up to.
class SpanSums {
 public:
  explicit SpanSums(std::size_t most_spans) : most_(most_spans) {}

  /// Takes the spans that were written since the last time; counts them when `active`.
  void drain(Spans& spans, bool active);
  /// The clock went by so long while steps were counted, what happens between them included.
  void add_window(std::uint64_t ticks) { window_ += ticks; }

  struct Sum {
    double ticks = 0;
    double calls = 0;
  };
  const std::vector<Sum>& sums() const { return sums_; }
  std::int64_t steps() const { return steps_; }
  double window() const { return static_cast<double>(window_); }
  /// Ticks of the steps as the first thread saw them, and as all did.
  double step_ticks() const { return first_thread_; }
  double thread_ticks() const { return all_threads_; }
  double threads() const {
    return steps_ == 0 ? 1 : static_cast<double>(thread_steps_) / static_cast<double>(steps_);
  }
  double median_step() const;
  std::int64_t cut() const { return cut_; }
  /// Seconds since `origin`.
  std::vector<TraceSpan> trace(std::uint64_t origin, double seconds_per_tick) const;

 private:
  void count(const Span& span, const Spans::Name& name, int thread);

  struct Kept {
    Span span;
    int thread;
  };
  std::size_t most_;
  std::vector<Sum> sums_;  ///< by name
  std::vector<Kept> kept_;
  std::vector<double> durations_;  ///< of steps, in ticks; bounded
  double first_thread_ = 0, all_threads_ = 0;
  std::int64_t steps_ = 0, thread_steps_ = 0, cut_ = 0;
  std::uint64_t window_ = 0;
};

/// The rows of a profile: what each name's spans were, a step.
std::vector<ProfileRow> rows_of(const SpanSums& sums, const Spans& spans, int program, const Profile& profile,
                                double seconds_per_tick, std::int64_t left_out);

}  // namespace tightloop::train
