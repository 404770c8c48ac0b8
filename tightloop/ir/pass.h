// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>

#include <span>

namespace tightloop::ir {

/// A free function graph → graph. Passes do not time, print, verify or disable themselves: run_passes() does.
struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&);
};

struct PassOptions {
  std::vector<std::string> disabled;  ///< names of passes to leave out; an unknown one is an Error
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;  ///< verify() before the first pass and after each
#endif
  std::string dump_directory;  ///< when set: the graph after each pass, as NN-name.txt
};

struct PassRecord {
  std::string_view name;
  double milliseconds = 0;
  std::size_t nodes = 0;  ///< nodes of the graph it left
  bool skipped = false;
};

struct PassResult {
  Graph graph;
  std::vector<PassRecord> records;
};

/// Runs `passes` in order.
PassResult run_passes(Graph graph, std::span<const Pass> passes, const PassOptions& options = {});

}  // namespace tightloop::ir
