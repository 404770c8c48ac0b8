// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/executable.h>
#include <tightloop/ir/recompute.h>

#include <memory>
#include <string>

namespace tightloop::backends::cpu {

struct CpuOptions {
  int threads = 0;  ///< at most so many, as far as they pay by the cost model; 0: as there are cores
  bool exact_threads = false;  ///< take `threads` without asking whether they pay or cores are there
  bool disk_cache = true;
  std::string cache_directory;  ///< empty: the user's cache directory
  bool flush_denormals = true;  ///< while a step runs
  int vector_bytes = 0;         ///< code for a lesser machine with vectors of 16 or 32 bytes; 0: the widest
  Recompute recompute = {};
  bool code = true;  ///< false: plans only; such an executable tells its memory and does not run
};

/// Compiles `graph` for this machine, or takes the code from the disk cache.
/// Results have the same bits for every number of threads.
std::unique_ptr<Executable> compile_cpu(const ir::Graph& graph, const CpuOptions& options = {});

/// LLVM IR that compile_cpu would make, for inspection.
std::string explain_cpu(const ir::Graph& graph);
/// The assembly of that.
std::string assembly_cpu(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
