// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/facts.h>
#include <tightloop/base/recorder.h>
#include <tightloop/base/sampling.h>
#include <tightloop/base/spans.h>
#include <tightloop/ir/graph.h>

#include <memory>
#include <string>
#include <vector>

namespace tightloop::backends {

/// What one call of Executable::run does: `steps` steps from `first_step`.
/// Pointers follow the graph's own order. A state's buffer is read and, where the graph has an output of
/// its name, updated in place; the pointer of such an output is ignored. Every other output is written by
/// each step, so it holds the last step's value afterwards. Inputs of role rows, step and seed need none.
struct RunArgs {
  std::vector<void*> inputs;
  std::vector<void*> outputs;
  Sampling sampling;  ///< gives each step its rows and the batch size
  std::int64_t first_step = 0;
  std::int64_t steps = 1;
  std::uint64_t seed = 0;
  /// When not null, gets `recorded` after the steps that it wants. What these point to is written by steps:
  /// outputs and states.
  Recorder* recorder = nullptr;
  std::vector<RecordedScalar> recorded = {};
};

/// Facts for `check`, `bench` and later `explain`.
struct Report {
  double compile_ms = 0;
  bool cached = false;               ///< the native code came from the disk cache
  int threads = 1;                   ///< that the steps use
  std::vector<std::string> kernels;  ///< one line each
};

/// A graph made runnable for one machine.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs without allocating, locking or logging once `reserve` was called for the batch size.
  virtual void run(const RunArgs& args) = 0;
  /// Allocates temporaries for batches of up to `sizes.batch`.
  virtual void reserve(const Sizes& sizes) = 0;
  /// Bytes of temporaries that reserve() takes for these sizes.
  virtual std::size_t temporary_bytes(const Sizes& sizes) const = 0;
  /// Arithmetic of a step that computes values again (ir/recompute.h), as a share of the rest.
  virtual double recomputed(const Sizes& /*sizes*/) const { return 0; }
  virtual const Report& report() const = 0;

  /// From now on steps write what their threads do into `spans` while it is on; null ends that. A backend
  /// that cannot say writes nothing.
  virtual void trace(std::shared_ptr<Spans> /*spans*/) {}
  /// What was made of the graph, for steps of these sizes; empty where there is nothing to say.
  virtual StepFacts facts(const Sizes& /*sizes*/) const { return {}; }
};

}  // namespace tightloop::backends
