// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/machine.h>
#include <tightloop/train/bench.h>
#include <tightloop/train/plan.h>

#include <algorithm>
#include <chrono>

namespace tightloop::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Runs to the next epoch's end or `most` steps, as the trainer does; the steps run.
std::int64_t run_chunk(Session& session, std::int64_t most) {
  const std::int64_t per_epoch = session.steps_per_epoch();
  const std::int64_t into = session.step() % per_epoch;
  if (into == 0) session.bound().reset();
  const std::int64_t steps = std::min(most, per_epoch - into);
  session.run(steps);
  return steps;
}

struct Stretch {
  std::int64_t steps = 0;
  double seconds = 0;
};

Stretch run_for(Session& session, double seconds, std::int64_t chunk) {
  const auto start = Clock::now();
  Stretch out;
  while (out.seconds < seconds) {
    out.steps += run_chunk(session, chunk);
    out.seconds = seconds_since(start);
  }
  return out;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

BenchResult bench(PreparedJob& prepared, double seconds, const std::function<void()>& first_step) {
  constexpr int stretches = 15;
  const Model model = prepared.model->model();
  const TrainingData& data = prepared.data.data;
  const TrainerOptions& o = prepared.options;
  const auto start = Clock::now();
  Session session(model, prepared.loss, *prepared.optimizer,
                  DataSpec::of(data.train.data, data.target, data.scales), data.train, o.session());
  BenchResult r;
  r.compile_ms = 1e3 * seconds_since(start);
  r.cached = session.program().report().cached;
  run_chunk(session, 1);
  first_step();
  const Stretch warm = run_for(session, seconds / stretches, 1);
  const double guess = warm.seconds / static_cast<double>(warm.steps);
  const auto chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.05 / guess));
  std::vector<double> times;
  for (int i = 0; i < stretches; ++i) {
    const Stretch s = run_for(session, seconds / stretches, chunk);
    times.push_back(s.seconds / static_cast<double>(s.steps));
    r.steps += s.steps;
  }
  const double step = median(times);
  const Sampling& sampling = session.sampling();
  const Sizes sizes = session.bound().sizes(sampling);
  r.us_per_step = 1e6 * step;
  r.samples_per_s =
      static_cast<double>(data.train.count()) / (static_cast<double>(sampling.steps_per_epoch()) * step);
  r.gflops = 1e-9 * step_flops(session.program().graph(), sizes) / step;
  r.threads = session.program().report().threads;
  r.peak_gflops = peak_gflops(r.threads);
  r.planned_bytes = plan_memory(prepared, session).total();
  return r;
}

}  // namespace tightloop::train
