// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace tightloop::train {

struct BenchResult {
  double us_per_step = 0;  ///< median over several stretches of steps, run as the trainer runs them
  std::int64_t steps = 0;  ///< measured in all
  double compile_ms = 0;   ///< graph, passes and native code
  bool cached = false;     ///< the native code came from the disk cache
  double samples_per_s = 0;
  double gflops = 0;       ///< step_flops() / time
  double peak_gflops = 0;  ///< f32 multiply-adds of this machine with the same threads
  int threads = 1;
  std::size_t planned_bytes = 0;
};

/// Trains for about `seconds` and keeps nothing. `first_step` is called when the first step is done.
BenchResult bench(PreparedJob& prepared, double seconds, const std::function<void()>& first_step);

}  // namespace tightloop::train
