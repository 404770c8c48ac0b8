// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/recorder.h>

#include <bit>

namespace tightloop {
namespace {

constexpr std::uint64_t kThinnest = std::uint64_t{1} << 20;

}  // namespace

std::int64_t RecordedSteps::after_doubling(std::int64_t step) const {
  std::int64_t stride = every, last = doubles_after;
  while (true) {
    const std::int64_t next = step - step % stride + stride;
    if (next <= last || last > std::numeric_limits<std::int64_t>::max() / 2) return next;
    stride *= 2;
    last *= 2;
  }
}

double RecordedScalar::whole() const {
  switch (dtype) {
    case DType::i64:
      return static_cast<double>(*static_cast<const std::int64_t*>(memory));
    case DType::i32:
      return *static_cast<const std::int32_t*>(memory);
    default:
      return *static_cast<const std::uint8_t*>(memory);
  }
}

Recorder::Recorder(std::vector<std::string> names, RecordedSteps steps, std::size_t capacity)
    : names_(std::move(names)), steps_(steps), mask_(std::bit_ceil(std::max<std::size_t>(capacity, 4)) - 1) {
  if (steps.every < 0 || steps.doubles_after < 0 ||
      (steps.every > 0 && steps.doubles_after % steps.every != 0))
    throw Error("recorder: every " + std::to_string(steps.every) + " steps, doubling after " +
                std::to_string(steps.doubles_after) +
                ": both must be 0 or greater, the second a multiple of the first");
  ring_ = std::make_unique_for_overwrite<Word[]>((mask_ + 1) * (names_.size() + 1));
}

bool Recorder::look_at_reader(std::uint64_t head) noexcept {
  seen_tail_ = tail_.load(std::memory_order_acquire);
  const std::uint64_t waiting = head - seen_tail_;
  const bool full = waiting > mask_;
  const bool settled = since_ > mask_ / 8;
  if (full && (settled || thin_ == 1)) {
    thin_ = std::min(2 * thin_, kThinnest);
    since_ = 0;
  } else if (!full && settled && thin_ > 1 && waiting <= mask_ / 4) {
    thin_ /= 2;
    since_ = 0;
  }
  return !full;
}

}  // namespace tightloop
