// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/spans.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tightloop::backends::cpu {

/// What one thread of a team writes of its steps. Spans follow each other without a gap: each begins where
/// the one before ended, so that a step's spans add up to the step and cost one look at the clock each.
class alignas(64) ThreadTrace {
 public:
  ThreadTrace() = default;
  ThreadTrace(SpanRing* ring, std::size_t kernels) : ring_(ring), shares_(kernels, 0), untimed_(kernels, 0) {}

  void begin_step(std::int64_t step) {
    step_ = step;
    first_ = last_ = ticks();
  }
  /// From the end of the last span to now.
  void lap(std::int32_t name) {
    const std::uint64_t now = ticks();
    ring_->write({last_, now, step_, name});
    last_ = now;
  }
  /// From begin_step() to the last span.
  void end_step(std::int32_t name) { ring_->write({first_, last_, step_, name}); }

  // A chain of kernels runs stretch by stretch, each of which may take less than a look at the clock is
  // worth. So only as many stretches are timed kernel by kernel as cost a hundredth or so, and the time of
  // the whole chain is shared out among its kernels as the timed stretches were.

  /// Whether this stretch of the chain that begins with kernel `first` is timed.
  bool begin_stretch(std::size_t first) {
    if (untimed_[first] > 0) return --untimed_[first], false;
    stretch_first_ = stretch_last_ = ticks();
    return true;
  }
  void stretch_lap(std::size_t kernel) {
    const std::uint64_t now = ticks();
    shares_[kernel] += now - stretch_last_;
    stretch_last_ = now;
  }
  void end_stretch(std::size_t first, std::size_t last) {
    constexpr std::uint64_t kCost = 40, kShare = 80;  // ticks that a look costs at most; one in so many
    const std::uint64_t took = stretch_last_ - stretch_first_ + 1;
    untimed_[first] = static_cast<std::uint64_t>(last - first) * kCost * kShare / took;
  }
  /// Kernels [first, last) since the last span. Kernel i has the name `names` + i.
  void chain_lap(std::size_t first, std::size_t last, std::int32_t names);

 private:
  SpanRing* ring_ = nullptr;
  std::vector<std::uint64_t> shares_;  ///< ticks of timed stretches by kernel, since the trace began
  std::vector<std::uint64_t>
      untimed_;  ///< by the first kernel of a chain: stretches to come that are not timed
  std::uint64_t first_ = 0, last_ = 0, stretch_first_ = 0, stretch_last_ = 0;
  std::int64_t step_ = 0;
};

/// What the threads of a runner write of its steps, and under which names.
class StepTrace {
 public:
  /// Adds the names of the kernels, one a label, to `spans`.
  StepTrace(std::shared_ptr<Spans> spans, const std::vector<std::string>& kernels, int phases);

  bool on() const { return spans_->on(); }
  /// Room for a team of `threads`; allocates only when it grows.
  void reserve(int threads);
  /// Of `steps` steps of a team of `threads`, so many have room.
  std::int64_t steps_with_room(std::int64_t steps, int threads) const;
  void leave_out(std::int64_t steps) { spans_->leave_out(steps); }

  ThreadTrace& thread(int i) { return threads_[static_cast<std::size_t>(i)]; }
  std::int32_t kernels() const { return kernels_; }
  std::int32_t rows() const { return rows_; }
  std::int32_t wait() const { return wait_; }
  std::int32_t copy() const { return copy_; }
  std::int32_t record() const { return record_; }
  std::int32_t step() const { return step_; }

 private:
  std::shared_ptr<Spans> spans_;
  std::size_t kernel_count_;
  std::size_t most_;  ///< spans that a thread writes in a step
  std::int32_t kernels_ = 0, rows_ = 0, wait_ = 0, copy_ = 0, record_ = 0, step_ = 0;
  std::vector<ThreadTrace> threads_;
};

}  // namespace tightloop::backends::cpu
