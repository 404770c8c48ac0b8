// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/runtime/barrier.h>

namespace tightloop::backends::cpu {

/// Threads that run one function side by side: those of the OpenMP runtime that oneDNN uses too, so that
/// generated and library kernels never compete for cores. After the first run with a number of threads, a run
/// allocates nothing.
class Team {
 public:
  /// Must not throw.
  using Body = void (*)(void* state, int thread, int threads);

  /// Calls `body(state, i, n)` for i in 0..n-1 at the same time and returns when all have; the caller is i =
  /// 0. n is `threads` (>= 1), or less where the OpenMP runtime gives fewer, as inside another parallel
  /// region. One run at a time.
  void run(int threads, Body body, void* state);

  template <class Function>
  void run(int threads, Function& function) {
    run(
        threads, [](void* f, int i, int n) { (*static_cast<Function*>(f))(i, n); }, &function);
  }

  /// Inside a body: the barrier of the threads that run it.
  Barrier& barrier() { return barrier_; }

 private:
  Barrier barrier_;
};

}  // namespace tightloop::backends::cpu
