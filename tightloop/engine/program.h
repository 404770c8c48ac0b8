// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/executable.h>
#include <tightloop/base/array.h>
#include <tightloop/base/recorder.h>
#include <tightloop/ir/pass.h>
#include <tightloop/ir/recompute.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop {

enum class Backend : std::uint8_t {
  cpu,        ///< native code for this machine
  reference,  ///< the interpreter
};

struct CompileOptions {
  Backend backend = Backend::cpu;
  int threads = 0;              ///< at most so many, as far as they pay; 0: as there are cores
  bool disk_cache = true;       ///< keep native code on disk under a content hash
  std::string cache_directory;  ///< "": the user's cache folder
  bool precise = false;         ///< reference only: compute f32 in f64
  bool flush_denormals = true;  ///< native code only: denormal floats count as 0 while a step runs
  ir::PassOptions passes;
  /// Of a graph with an output `loss` and a backward, in native code: less memory for more arithmetic.
  Recompute recompute = {};
  bool code = true;  ///< false: only plans, so that memory() tells; run() is then an InternalError
};

/// Bytes that a program holds.
struct MemoryReport {
  std::size_t state = 0;        ///< states, wherever they live
  std::size_t data = 0;         ///< bound data, arguments and literals
  std::size_t temporaries = 0;  ///< between the ops of a step
  std::size_t results = 0;      ///< outputs that are not states
  double recomputed = 0;        ///< arithmetic that computes values again, as a share of the rest
  std::size_t total() const { return state + data + temporaries + results; }
};

/// A compiled graph with its state: bind what it reads, run(n) steps in native code, read the results.
/// States live in one arena, 64-byte aligned, zero at the start; or in an array that was bound to their name.
class Program {
 public:
  /// Optimizes `graph` and compiles it. Leaves that hold data become inputs, bound to that data.
  static Program compile(const ir::Graph& graph, const CompileOptions& options = {});
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// The graph as the backend got it.
  const ir::Graph& graph() const;

  /// Feeds an input of role data, argument or state from `value` without a copy. A bound state is updated in
  /// place. Throws Error on an unknown name and on another dtype or shape than the input's (B and N fit any
  /// number).
  void bind(std::string_view input, Array value);
  /// The same by number, for callers that bind before every run.
  void bind(std::size_t input, Array value);
  std::size_t input_index(std::string_view input) const;
  /// Lets go of what is bound.
  void release(std::string_view input);

  /// The value of a state as a view of its memory: run() changes it. Throws Error on an unknown name.
  Array state(std::string_view name);
  /// Copies `value` into the state. Throws Error on an unknown name and on another dtype or shape.
  void set_state(std::string_view name, const Array& value);
  std::vector<std::string> state_names() const;

  /// Copies of all states, in the graph's order.
  using Snapshot = std::vector<Array>;
  Snapshot snapshot();
  void restore(const Snapshot& states);

  /// The run's seed (0 at the start).
  void set_seed(std::uint64_t seed);
  /// Allocates temporaries and results for batches of this sampling; run() then allocates nothing.
  void reserve(const Sampling& sampling);
  /// Runs `steps` steps from `first_step`. Throws Error when an input is not bound, or when a bound array's
  /// rows are not those of `sampling`.
  void run(const Sampling& sampling, std::int64_t first_step, std::int64_t steps);
  /// From now on run() writes the values of the outputs that `recorder` names into it, in native code, after
  /// each of its steps; null ends that. It allocates and waits for nothing, and costs a recorded step some
  /// nanoseconds. Throws Error on a name that is no output, and on one that is no single number.
  void record(std::shared_ptr<Recorder> recorder);
  /// One step of a graph that samples no rows; `batch` is the value of B.
  void run_once(std::int64_t batch = 1);

  /// An output's value after the last step: a view that the next run() overwrites, or a view of the state.
  /// Throws Error on an unknown name, and before the first run.
  Array result(std::string_view output);

  /// From now on run() writes what its threads do in each step into `spans` while that is on; null ends it.
  /// Off, a run pays one branch. The kernels of this program become names there.
  void trace(std::shared_ptr<Spans> spans);
  /// What trace() was given, or null.
  Spans* spans() const;
  /// Kernels, temporaries and their places, for steps of these sizes.
  backends::StepFacts facts(const Sizes& sizes) const;

  MemoryReport memory(const Sizes& sizes) const;
  const std::vector<ir::PassRecord>& passes() const;
  const backends::Report& report() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tightloop
