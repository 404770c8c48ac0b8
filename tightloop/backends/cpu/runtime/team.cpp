// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/team.h>

#include <omp.h>

namespace tightloop::backends::cpu {

void Team::run(int threads, Body body, void* state) {
  barrier_.reset(threads < 1 ? 1 : threads);
  if (threads <= 1) return body(state, 0, 1);
#pragma omp parallel num_threads(threads)
  {
    const int given = omp_get_num_threads();
    if (given != threads) {
#pragma omp single
      barrier_.reset(given);
    }
    body(state, omp_get_thread_num(), given);
  }
}

}  // namespace tightloop::backends::cpu
