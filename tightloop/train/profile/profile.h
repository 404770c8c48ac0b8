// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the time of a run went. Times are seconds a step on the clock unless said: what a thread of a team of
// two does for 10 us counts 5 us, so that all parts of a step add up to the step.
#include <tightloop/base/perf_counters.h>
#include <tightloop/base/spans.h>
#include <tightloop/engine/program.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// A kernel, or what else steps spend time on.
struct ProfileRow {
  std::string label;     ///< "layer3.0.conv1: convolution+add+maximum"
  std::string path;      ///< of its layer; "" where it belongs to none
  std::string category;  ///< "forward", "backward", "update", "data", "waiting for threads", ...
  SpanKind kind = SpanKind::kernel;
  int kernel = -1;     ///< which of the facts; -1: none
  double calls = 0;    ///< a step, of all threads
  double seconds = 0;  ///< a step
  double flops = 0, bytes = 0;
  /// The time that the arithmetic and the memory of this machine need for it at least, by what they were
  /// measured to reach; 0 for what computes nothing.
  double floor = 0;
  bool by_memory = false;  ///< the memory's time is the longer one
};

/// What happens between steps, over the whole run.
struct ProfileActivity {
  std::string name;  ///< "evaluation", "checkpoint", "logging"
  SpanKind kind = SpanKind::callback;
  double seconds = 0;
  std::int64_t count = 0;
};

struct TraceSpan {
  int thread = 0;
  std::int32_t name = 0;
  std::int64_t step = 0;
  double begin = 0, end = 0;  ///< seconds since the profiler began
};

/// What the run was like; a verdict is about these.
struct ProfileSetting {
  std::int64_t batch = 1;
  std::int64_t rows = 0;  ///< of the training data
  std::int64_t steps_per_epoch = 1;
  std::int64_t evaluate_every = 1;  ///< epochs; 0: never
  std::int64_t log_every = -1;
  int threads_asked = 0;  ///< 0: as the machine decides
  int cores = 1;
  bool stream = false;     ///< samples are made while training goes on
  int workers = -1;        ///< loader threads; -1: as they pay
  bool f32 = true;         ///< products are of f32 operands
  bool fast_bf16 = false;  ///< the processor has better for them
};

/// One change, tried on the same data for a moment.
struct ProfileTrial {
  std::string what;   ///< "data.batch = 1024"
  double before = 0;  ///< samples a second
  double after = 0;
  double gain() const { return before > 0 ? after / before : 0; }
};

struct Profile {
  std::string title;
  ProfileSetting setting;
  std::int64_t steps = 0;      ///< that were traced
  std::int64_t left_out = 0;   ///< steps that were not: no room was left
  std::int64_t spans_cut = 0;  ///< spans that are in the sums but not in `trace`
  double threads = 1;          ///< of a step, on average
  double step = 0;             ///< seconds of a step on the clock, its loading and what lies between included
  double step_median = 0;      ///< of the steps themselves
  std::vector<ProfileRow> rows;  ///< they add up to `step`; the longest first
  std::vector<ProfileActivity> activities;
  double run_seconds = 0;  ///< from the first step on
  std::int64_t run_steps = 0;
  backends::StepFacts facts;
  double peak_gflops = 0;              ///< f32, with these threads
  double bandwidth = 0;                ///< GB/s, of what holds the step's values
  std::optional<PerfCounts> counters;  ///< of the traced steps
  double counted_seconds = 0;
  std::vector<Spans::Name> names;
  std::vector<TraceSpan> trace;  ///< bounded
  std::vector<ProfileTrial> trials;

  bool empty() const { return steps == 0; }
  /// Seconds a step of rows of this kind.
  double of(SpanKind kind) const;
  /// The sum of the rows' floors.
  double floor() const;
  const ProfileTrial* trial(const std::string& begins) const;
};

}  // namespace tightloop::train
