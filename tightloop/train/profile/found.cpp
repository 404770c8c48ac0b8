// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/found.h>

#include <algorithm>

namespace tightloop::train {
namespace {

constexpr std::size_t kMostDurations = 100'000;

const char* category_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::rows:
      return "choosing rows";
    case SpanKind::wait:
      return "waiting for threads";
    case SpanKind::copy:
      return "copying states";
    case SpanKind::record:
      return "recording numbers";
    case SpanKind::load:
      return "waiting for samples";
    case SpanKind::kernel:
      return "kernels";
    default:
      return "between steps";
  }
}

const char* category_of(backends::Part part) {
  switch (part) {
    case backends::Part::data:
      return "data";
    case backends::Part::forward:
      return "forward";
    case backends::Part::backward:
      return "backward";
    case backends::Part::update:
      return "update";
  }
  return "";
}

bool is_between(SpanKind kind) { return kind > SpanKind::step; }

/// Adds what is known of the kernel, and the least time that it can take.
void describe(ProfileRow& row, const backends::KernelFacts& facts, const Profile& profile) {
  row.path = facts.path;
  row.category = category_of(facts.part);
  row.flops = facts.flops;
  row.bytes = facts.bytes;
  const double compute = profile.peak_gflops > 0 ? row.flops / (1e9 * profile.peak_gflops) : 0;
  const double memory = profile.bandwidth > 0 ? row.bytes / (1e9 * profile.bandwidth) : 0;
  row.floor = std::max(compute, memory);
  row.by_memory = memory > compute;
}

}  // namespace

void SpanSums::drain(Spans& spans, bool active) {
  sums_.resize(spans.names().size());
  for (int thread = 0; thread < spans.threads(); ++thread)
    spans.ring(thread).drain([&](const Span& span) {
      if (active) count(span, spans.names()[static_cast<std::size_t>(span.name)], thread);
    });
}

void SpanSums::count(const Span& span, const Spans::Name& name, int thread) {
  const auto ticks = static_cast<double>(span.end - span.begin);
  if (name.kind == SpanKind::step) {
    all_threads_ += ticks;
    ++thread_steps_;
    if (thread == 0) {
      first_thread_ += ticks;
      ++steps_;
      if (durations_.size() < kMostDurations) durations_.push_back(ticks);
    }
  }
  Sum& sum = sums_[static_cast<std::size_t>(span.name)];
  sum.ticks += ticks;
  ++sum.calls;
  if (kept_.size() < most_)
    kept_.push_back({span, thread});
  else
    ++cut_;
}

double SpanSums::median_step() const {
  if (durations_.empty()) return 0;
  std::vector<double> sorted = durations_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<TraceSpan> SpanSums::trace(std::uint64_t origin, double seconds_per_tick) const {
  std::vector<TraceSpan> out;
  out.reserve(kept_.size());
  const auto at = [&](std::uint64_t t) { return static_cast<double>(t - origin) * seconds_per_tick; };
  for (const Kept& k : kept_)
    out.push_back({k.thread, k.span.name, k.span.step, at(k.span.begin), at(k.span.end)});
  return out;
}

std::vector<ProfileRow> rows_of(const SpanSums& sums, const Spans& spans, int program, const Profile& profile,
                                double seconds_per_tick, std::int64_t left_out) {
  if (sums.steps() == 0) return {};
  const auto steps = static_cast<double>(sums.steps());
  const double team = sums.step_ticks() / std::max(sums.thread_ticks(), 1.0);
  std::vector<ProfileRow> rows;
  double between = sums.window() - sums.step_ticks() * (1 + static_cast<double>(left_out) / steps);
  for (std::size_t n = 0; n < sums.sums().size(); ++n) {
    const SpanSums::Sum& sum = sums.sums()[n];
    const Spans::Name& name = spans.names()[n];
    if (sum.calls == 0 || name.kind == SpanKind::step) continue;
    if (is_between(name.kind) || name.kind == SpanKind::load) between -= sum.ticks;
    if (is_between(name.kind)) continue;
    ProfileRow row{name.text, "", category_of(name.kind), name.kind};
    row.calls = sum.calls / steps;
    row.seconds = sum.ticks * seconds_per_tick / steps * (name.kind == SpanKind::load ? 1 : team);
    if (name.program == program && name.kernel >= 0 &&
        static_cast<std::size_t>(name.kernel) < profile.facts.kernels.size()) {
      row.kernel = name.kernel;
      describe(row, profile.facts.kernels[static_cast<std::size_t>(name.kernel)], profile);
    }
    rows.push_back(std::move(row));
  }
  ProfileRow rest{"between steps", "", category_of(SpanKind::other), SpanKind::other};
  rest.calls = 1;
  rest.seconds = std::max(0.0, between) * seconds_per_tick / (steps + static_cast<double>(left_out));
  rows.push_back(std::move(rest));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return rows;
}

double Profile::of(SpanKind kind) const {
  double sum = 0;
  for (const ProfileRow& row : rows) sum += row.kind == kind ? row.seconds : 0;
  return sum;
}

double Profile::floor() const {
  double sum = 0;
  for (const ProfileRow& row : rows) sum += row.floor;
  return sum;
}

const ProfileTrial* Profile::trial(const std::string& begins) const {
  for (const ProfileTrial& t : trials)
    if (t.what.starts_with(begins)) return &t;
  return nullptr;
}

}  // namespace tightloop::train
