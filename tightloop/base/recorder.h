// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tightloop {

/// Which steps are recorded, counted from 1: every `every`-th, 0: none. With `doubles_after` (a multiple of
/// `every`) every second of these from that step on, every fourth from twice as far on, and so forth: the
/// records of a run of n steps then number about (doubles_after / every) · log2(n / doubles_after) / 2.
struct RecordedSteps {
  std::int64_t every = 1;
  std::int64_t doubles_after = 0;  ///< 0: never

  /// The first recorded step later than `step`.
  std::int64_t after(std::int64_t step) const {
    if (every <= 0) return std::numeric_limits<std::int64_t>::max();
    if (doubles_after <= 0) return step - step % every + every;
    return after_doubling(step);
  }

 private:
  std::int64_t after_doubling(std::int64_t step) const;
};

/// A number in memory that the steps write.
struct RecordedScalar {
  DType dtype;  ///< any but bf16 and f16
  const void* memory;

  double value() const {
    if (dtype == DType::f32) return *static_cast<const float*>(memory);
    if (dtype == DType::f64) return *static_cast<const double*>(memory);
    return whole();
  }

 private:
  double whole() const;
};

/// Results of single steps on their way from the loop that runs them to another thread: a ring that one
/// thread writes and one reads, without locks. Writing never waits. When the reader falls behind and the ring
/// is full, only every second step is written, then every fourth and so on, until the reader keeps up; steps
/// that were left out are counted. See Program::record().
///
///     const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"loss"});
///     program.record(recorder);
///     program.run(sampling, 0, 1000);
///     recorder->read([](std::int64_t step, std::span<const double> values) { ... });  // any one thread, any
///     time
class Recorder {
 public:
  /// `names` are outputs of the program. Takes memory for `capacity` records, rounded up to a power of two.
  explicit Recorder(std::vector<std::string> names, RecordedSteps steps = {}, std::size_t capacity = 65536);

  const std::vector<std::string>& names() const { return names_; }
  const RecordedSteps& steps() const { return steps_; }
  std::size_t capacity() const { return mask_ + 1; }

  /// Calls f(step, values) for each record that was not read yet, in their order; steps count from 1. With
  /// `until`, a count of written(), only for those before. One reader at a time.
  template <class F>
  void read(F f, std::uint64_t until = std::numeric_limits<std::uint64_t>::max()) {
    const std::uint64_t end = std::min(until, head_.load(std::memory_order_acquire));
    for (std::uint64_t at = tail_.load(std::memory_order_relaxed); at < end; ++at) {
      const Word* record = slot(at);
      f(record->step, std::span<const double>(&record[1].value, names_.size()));
      tail_.store(at + 1, std::memory_order_release);
    }
  }

  /// Records that were ever written.
  std::uint64_t written() const { return head_.load(std::memory_order_acquire); }
  /// Steps that were to be recorded and had no room.
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

  /// For the thread that runs the steps, between two runs: steps after `step` come again and are recorded
  /// again. Without it a step that is not later than those before, such as one that is repeated to find a
  /// fault, leaves no record.
  void go_back(std::int64_t step) { last_ = step; }

  /// For the loop that runs the steps, in one thread: the values after `step` steps. Allocates nothing.
  void write(std::int64_t step, std::span<const RecordedScalar> values) noexcept {
    if (step <= last_) return;
    last_ = step;
    if ((turn_++ & (thin_ - 1)) != 0 || !room()) return leave_out();
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    Word* record = slot(head);
    record->step = step;
    for (std::size_t i = 0; i < values.size(); ++i) record[1 + i].value = values[i].value();
    head_.store(head + 1, std::memory_order_release);
  }

 private:
  union Word {
    std::int64_t step;
    double value;
  };

  Word* slot(std::uint64_t number) { return &ring_[(number & mask_) * (names_.size() + 1)]; }
  /// True when the next record has a place; now and then changes how thin the records to come are.
  bool room() noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    ++since_;
    const bool look = head - seen_tail_ > mask_ || (thin_ > 1 && since_ > mask_ / 8);
    return !look || look_at_reader(head);
  }
  bool look_at_reader(std::uint64_t head) noexcept;
  void leave_out() noexcept {
    left_out_.store(left_out_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::vector<std::string> names_;
  RecordedSteps steps_;
  std::size_t mask_;
  std::unique_ptr<Word[]> ring_;
  // The writer's own, on lines that the reader does not touch.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;
  std::uint64_t turn_ = 0;
  std::uint64_t thin_ = 1;   ///< a power of two
  std::uint64_t since_ = 0;  ///< records tried since that changed
  std::int64_t last_ = 0;
  std::atomic<std::uint64_t> left_out_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace tightloop
