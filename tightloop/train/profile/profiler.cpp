// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/engine/autocast.h>
#include <tightloop/engine/machine.h>
#include <tightloop/train/profile/found.h>
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/profile/profiler.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace tightloop::train {
namespace {

constexpr std::size_t kRing = std::size_t{1} << 17;  ///< spans of a thread between two readings

/// Values that a step reads and writes decide which cache holds them.
std::size_t working_set(const backends::StepFacts& facts) {
  double bytes = 0;
  for (const auto& k : facts.kernels) bytes += k.bytes;
  return static_cast<std::size_t>(std::clamp(bytes, 64.0 * 1024, 256.0 * 1024 * 1024));
}

bool multiplies_f32(const backends::StepFacts& facts) {
  return std::none_of(facts.casts.begin(), facts.casts.end(),
                      [](const auto& c) { return c.to == "bf16" || c.to == "f16"; });
}

}  // namespace

/// What the run told so far.
struct Profiler::Found {
  explicit Found(std::size_t most) : sums(most) {}

  TickScale scale;
  SpanSums sums;
  std::vector<ProfileActivity> activities;
  std::vector<std::int32_t> activity_names;  ///< one each
  ProfileSetting setting;
  backends::StepFacts facts;
  PerfCounters counters;
  double counted = 0;  ///< seconds
  int program = -1;
  std::uint64_t entered = 0;  ///< ticks; the window at hand
  std::int64_t left_out = 0, left_out_before = 0;
  std::uint64_t began = 0, ended = 0;  ///< ticks; the run
  std::int64_t steps = 0;
};

Profiler::Profiler(ProfilerOptions options) : options_(options) { train::check(options_.schedule); }
Profiler::~Profiler() = default;

std::int64_t Profiler::pause_after(std::int64_t step) const {
  const std::int64_t change = options_.schedule.next_change(step - first_);
  if (change == std::numeric_limits<std::int64_t>::max()) return change;
  const std::int64_t pause = first_ + change;
  if (mode_ == ProfileSchedule::Mode::rest || spans_ == nullptr) return pause;
  return std::min(pause, step + spans_->steps_of_room());
}

void Profiler::attach(Run& run) {
  session_ = &run.session();
  BoundStep& bound = session_->bound();
  Found& f = *found_;
  bound.program().trace(spans_);
  f.program = spans_->programs() - 1;
  f.facts = bound.program().facts(bound.sizes(session_->sampling()));
  const TrainerOptions& o = run.options();
  const DataPart& part = bound.part();
  f.setting = {o.batch,
               part.count(),
               session_->steps_per_epoch(),
               run.facts().validates ? o.evaluate_every : 0,
               o.loggers.empty() ? 0 : o.log_every,
               o.compile.threads,
               available_cores(),
               part.is_stream(),
               part.loader.workers,
               multiplies_f32(f.facts),
               computes_fast(DType::bf16)};
}

void Profiler::start(Run& run) {
  spans_ = std::make_shared<Spans>(kRing);
  spans_->reserve(1, 1);
  spans_->add({"waiting for samples", SpanKind::load});
  found_ = std::make_unique<Found>(options_.most_spans);
  mode_ = ProfileSchedule::Mode::rest;
  attach(run);
  first_ = at_ = run.step();
  found_->began = ticks();
  enter(run.step());
}

void Profiler::step(Run& run) {
  leave();
  if (&run.session() != session_) attach(run);
  found_->steps += std::max<std::int64_t>(0, run.step() - at_);  // a run may go back
  at_ = run.step();
  enter(run.step());
}

void Profiler::end(Run& run) {
  leave();
  mode_ = ProfileSchedule::Mode::rest;
  found_->steps += run.step() - at_;
  at_ = run.step();
  found_->ended = ticks();
}

void Profiler::enter(std::int64_t step) {
  mode_ = options_.schedule.mode(step - first_);
  spans_->set_on(mode_ != ProfileSchedule::Mode::rest);
  if (mode_ != ProfileSchedule::Mode::active) return;
  found_->left_out_before = spans_->steps_left_out();
  if (options_.counters) found_->counters.start();
  found_->entered = ticks();
}

void Profiler::leave() {
  const std::uint64_t now = ticks();
  spans_->set_on(false);
  const bool active = mode_ == ProfileSchedule::Mode::active;
  found_->sums.drain(*spans_, active);
  if (!active) return;
  if (options_.counters) found_->counters.stop();
  found_->sums.add_window(now - found_->entered);
  found_->left_out += spans_->steps_left_out() - found_->left_out_before;
}

bool Profiler::done() const {
  return options_.schedule.repeat > 0 && found_ != nullptr &&
         options_.schedule.next_change(at_ - first_) == std::numeric_limits<std::int64_t>::max();
}

Profile Profiler::profile() const {
  Profile out;
  if (found_ == nullptr) return out;
  const Found& f = *found_;
  const double tick = f.scale.seconds_per_tick();
  out.setting = f.setting;
  out.facts = f.facts;
  out.steps = f.sums.steps();
  out.left_out = f.left_out;
  out.spans_cut = f.sums.cut() + static_cast<std::int64_t>(spans_->dropped());
  out.threads = f.sums.threads();
  out.activities = f.activities;
  for (auto& a : out.activities) a.seconds *= tick;
  out.run_steps = f.steps;
  out.run_seconds = static_cast<double>((f.ended != 0 ? f.ended : ticks()) - f.began) * tick;
  const int threads = std::max(1, static_cast<int>(std::lround(out.threads)));
  out.peak_gflops = peak_gflops(threads);
  out.bandwidth = read_bandwidth(threads, working_set(f.facts));
  out.rows = rows_of(f.sums, *spans_, f.program, out, tick, f.left_out);
  for (const ProfileRow& row : out.rows) out.step += row.seconds;
  out.step_median = f.sums.median_step() * tick;
  out.counters = f.counters.read();
  out.counted_seconds = f.sums.window() * tick;
  out.names = spans_->names();
  out.trace = f.sums.trace(f.scale.origin(), tick);
  return out;
}

void Profiler::write(const std::string& directory, const std::string& title) const {
  Profile p = profile();
  p.title = title;
  write_profile(directory, p);
}

std::size_t Profiler::activity(SpanKind kind, std::string_view name) {
  auto& all = found_->activities;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].kind == kind && all[i].name == name) return i;
  all.push_back({std::string(name), kind});
  found_->activity_names.push_back(spans_->add({std::string(name), kind}));
  return all.size() - 1;
}

Profiler::Scope::Scope(Profiler* profiler, SpanKind kind, std::string_view name)
    : profiler_(profiler != nullptr && profiler->found_ != nullptr ? profiler : nullptr) {
  if (profiler_ == nullptr) return;
  activity_ = profiler_->activity(kind, name);
  begin_ = ticks();
}

Profiler::Scope::~Scope() {
  if (profiler_ == nullptr) return;
  const std::uint64_t end = ticks();
  ProfileActivity& activity = profiler_->found_->activities[activity_];
  activity.seconds += static_cast<double>(end - begin_);  // ticks until profile() knows their length
  ++activity.count;
  Spans& spans = *profiler_->spans_;
  if (spans.on())
    spans.ring(0).write({begin_, end, profiler_->at_, profiler_->found_->activity_names[activity_]});
}

Profiler* find_profiler(const std::vector<std::shared_ptr<Callback>>& callbacks) {
  for (const auto& callback : callbacks)
    if (auto* profiler = dynamic_cast<Profiler*>(callback.get())) return profiler;
  return nullptr;
}

}  // namespace tightloop::train
