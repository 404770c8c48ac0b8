// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <omp.h>

namespace tightloop::backends::cpu {

/// While it lives, oneDNN keeps to the calling thread, also outside a parallel region.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }

 private:
  int before_;
};

}  // namespace tightloop::backends::cpu
