// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where time goes, in short records that the threads at work write for themselves and somebody reads later.
#include <tightloop/base/ticks.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tightloop {

/// What a thread did meanwhile. Spans of kinds up to `other` follow each other without overlap on a thread
/// while it runs steps; the later kinds hold others.
enum class SpanKind : std::uint8_t {
  rows,        ///< choosing the rows of the batch
  kernel,      ///< computing
  wait,        ///< for the other threads of the team
  copy,        ///< of states whose old value was needed to the end
  record,      ///< of a step's numbers, for loggers
  load,        ///< waiting for the samples of a stream, or making them
  other,       ///< between two steps
  step,        ///< one step, from beginning to end
  evaluation,  ///< of the validation rows
  callback,    ///< between steps
  logging,
};

struct Span {
  std::uint64_t begin = 0;  ///< ticks()
  std::uint64_t end = 0;
  std::int64_t step = 0;
  std::int32_t name = 0;  ///< of Spans::names()
};

/// Spans on their way from the one thread that writes them to one that reads. Neither locks nor waits; what
/// has no room is dropped and counted.
class SpanRing {
 public:
  /// Takes memory for `capacity` spans, rounded up to a power of two.
  explicit SpanRing(std::size_t capacity);

  std::size_t capacity() const { return mask_ + 1; }

  /// For the writer: how many spans more there is room for.
  std::size_t room() const noexcept {
    return capacity() - static_cast<std::size_t>(head_.load(std::memory_order_relaxed) -
                                                 tail_.load(std::memory_order_acquire));
  }
  void write(const Span& span) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - seen_tail_ > mask_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head - seen_tail_ > mask_) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
    }
    ring_[head & mask_] = span;
    head_.store(head + 1, std::memory_order_release);
  }

  /// For the reader: calls f(span) for each that was not read yet, in their order.
  template <class F>
  void drain(F f) {
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    for (std::uint64_t at = tail_.load(std::memory_order_relaxed); at < head; ++at) f(ring_[at & mask_]);
    tail_.store(head, std::memory_order_release);
  }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::size_t mask_;
  std::unique_ptr<Span[]> ring_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;  ///< the writer's own
  std::atomic<std::uint64_t> dropped_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

/// The spans of one run: names, and a ring for each thread of the team; the first is that of the caller, who
/// does everything else too. Names and threads are added between runs, by one thread.
class Spans {
 public:
  struct Name {
    std::string text;
    SpanKind kind;
    int program = -1;  ///< of kernels: whose, as add_program() counted
    int kernel = -1;   ///< and which of it
  };

  /// `capacity`: spans that a thread can write before somebody reads them.
  explicit Spans(std::size_t capacity = std::size_t{1} << 15) : capacity_(capacity) {}

  /// Steps write spans while this is set.
  bool on() const { return on_; }
  void set_on(bool on) { on_ = on; }

  /// Names are numbered from 0 on. The number of the new one.
  std::int32_t add(Name name);
  /// The number of the first name of this kind. Throws InternalError where there is none.
  std::int32_t name_of(SpanKind kind) const;
  /// A number for a program that begins to write.
  int add_program() { return programs_++; }
  int programs() const { return programs_; }
  const std::vector<Name>& names() const { return names_; }

  /// Makes rings for `threads` threads, each with room for a few steps of up to `per_step` spans.
  void reserve(int threads, std::size_t per_step);
  /// Steps that have room between two readings.
  std::int64_t steps_of_room() const;
  int threads() const { return static_cast<int>(rings_.size()); }
  SpanRing& ring(int thread) { return *rings_[static_cast<std::size_t>(thread)]; }

  /// Steps that were not written because there was no room.
  std::int64_t steps_left_out() const { return steps_left_out_; }
  void leave_out(std::int64_t steps) { steps_left_out_ += steps; }
  /// Spans that were dropped by all threads.
  std::uint64_t dropped() const;

 private:
  std::size_t capacity_;
  std::size_t per_step_ = 1;
  bool on_ = false;
  int programs_ = 0;
  std::int64_t steps_left_out_ = 0;
  std::vector<Name> names_;
  std::vector<std::unique_ptr<SpanRing>> rings_;
};

/// Writes what happens while it lives into the caller's own ring; with `spans` null or off, nothing.
class SpanScope {
 public:
  SpanScope(Spans* spans, std::int32_t name, std::int64_t step)
      : spans_(spans != nullptr && spans->on() ? spans : nullptr), name_(name), step_(step) {
    if (spans_ != nullptr) begin_ = ticks();
  }
  ~SpanScope() {
    if (spans_ != nullptr) spans_->ring(0).write({begin_, ticks(), step_, name_});
  }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  Spans* spans_;
  std::int32_t name_;
  std::int64_t step_;
  std::uint64_t begin_ = 0;
};

}  // namespace tightloop
