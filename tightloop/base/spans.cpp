// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/spans.h>

#include <algorithm>
#include <bit>

namespace tightloop {

SpanRing::SpanRing(std::size_t capacity)
    : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1), ring_(new Span[mask_ + 1]) {}

std::int32_t Spans::add(Name name) {
  names_.push_back(std::move(name));
  return static_cast<std::int32_t>(names_.size()) - 1;
}

std::int32_t Spans::name_of(SpanKind kind) const {
  const auto at = std::find_if(names_.begin(), names_.end(), [&](const Name& n) { return n.kind == kind; });
  require(at != names_.end(), "Spans::name_of: no name of this kind");
  return static_cast<std::int32_t>(at - names_.begin());
}

void Spans::reserve(int threads, std::size_t per_step) {
  constexpr std::size_t kSteps = 4;
  per_step_ = std::max(per_step_, per_step);
  const std::size_t least = kSteps * per_step_;
  for (auto& ring : rings_)
    if (ring->capacity() < least) {
      auto larger = std::make_unique<SpanRing>(least);
      ring->drain([&](const Span& span) { larger->write(span); });
      ring = std::move(larger);
    }
  while (this->threads() < std::max(threads, 1))
    rings_.push_back(std::make_unique<SpanRing>(std::max(capacity_, least)));
}

std::int64_t Spans::steps_of_room() const {
  std::size_t room = rings_.empty() ? capacity_ : rings_[0]->capacity();
  for (const auto& ring : rings_) room = std::min(room, ring->capacity());
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(room / per_step_));
}

std::uint64_t Spans::dropped() const {
  std::uint64_t sum = 0;
  for (const auto& ring : rings_) sum += ring->dropped();
  return sum;
}

}  // namespace tightloop
