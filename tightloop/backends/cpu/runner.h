// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/codegen/generate.h>
#include <tightloop/backends/cpu/library/convolution.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/backends/cpu/runtime/context.h>
#include <tightloop/backends/cpu/runtime/cost.h>
#include <tightloop/backends/cpu/runtime/team.h>
#include <tightloop/backends/cpu/step_trace.h>
#include <tightloop/backends/cpu/windows/window_kernel.h>
#include <tightloop/backends/executable.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tightloop::backends::cpu {

/// Loops the kernels of a plan over steps, on one thread or a team of them.
class Runner {
 public:
  /// Refers to both as long as it lives.
  Runner(const Plan& plan, const Code& code, bool flush_denormals);

  /// What a step has for a team to do.
  StepWork work(const Sizes& sizes) const;
  /// Takes the memory for batches of up to sizes.batch and teams of up to `threads`.
  void reserve(const Sizes& sizes, int threads);
  /// What the steps to come read and write.
  void bind(const RunArgs& args);
  /// Steps [first, first + steps) on `threads` threads. Allocates nothing.
  void run(const RunArgs& args, std::int64_t first, std::int64_t steps, int threads);

  /// From now on steps write what their threads do into `spans` while it is on; null ends that. `kernels`: a
  /// label for each.
  void trace(std::shared_ptr<Spans> spans, const std::vector<std::string>& kernels);

 private:
  /// What one thread of the team has for itself.
  struct Worker {
    StepContext context{};
    std::vector<void*> buffers;
    std::byte* local = nullptr;
  };
  /// A local buffer of a thread, which moves along with its stretch of samples.
  struct Local {
    std::size_t buffer;
    std::ptrdiff_t offset;     ///< in the thread's own memory
    std::ptrdiff_t row_bytes;  ///< of one sample
  };

  /// How a kernel of kind `window` runs: by the library where it can, else by its own loops.
  struct Window {
    explicit Window(const ir::Node& n);
    std::int64_t items(std::int64_t batch) const;

    Dim batch;
    std::array<const ir::Node*, 2> operands{};  ///< what is read, null where there is one input
    WindowKernel loops;
    std::optional<LibraryConvolution> library;
  };

  KernelWork work_of(std::size_t kernel, const Sizes& sizes) const;
  std::string role(std::size_t buffer) const;
  bool read_in_chains_only(int buffer) const;
  // `traced` is known where these are compiled, so that steps which are not traced pay nothing.
  template <bool traced>
  void run_steps(const RunArgs& args, std::int64_t first, std::int64_t steps, int threads);
  template <bool traced>
  void loop(const RunArgs& args, std::int64_t first, std::int64_t steps, int thread, int threads);
  template <bool traced>
  void begin_step(const Sampling& sampling, std::int64_t step, int thread, int threads);
  template <bool traced>
  void run_phase(const Phase& phase, int thread, int threads);
  template <bool traced>
  void run_chain(const Phase& phase, int thread, int threads);
  bool is_due(std::size_t kernel, const Worker& worker) const {
    const int at = only_if_[kernel];
    return at < 0 || *static_cast<const std::uint8_t*>(worker.buffers[static_cast<std::size_t>(at)]) != 0;
  }
  void run_kernel(std::size_t kernel, const Worker& worker, int part, int parts);
  void run_library(const ir::Node* matmul, const Worker& worker, int part, int parts);
  void run_window(std::size_t kernel, const Worker& worker, int part, int parts);
  void prepare_windows(const Sizes& sizes);
  void attach_scratch();
  void* memory_of(const ir::Node* node, const Worker& worker) const {
    return worker.buffers[static_cast<std::size_t>(plan_.buffer_of(node))];
  }
  void copy_states(const Worker& worker);
  template <bool traced>
  void wait(int thread, int threads) {
    if (threads == 1) return;
    team_.barrier().wait(thread);
    if constexpr (traced) trace_->thread(thread).lap(trace_->wait());
  }

  const Plan& plan_;
  const Code& code_;
  bool flush_denormals_;
  int rows_buffer_ = -1;      ///< the input of role rows
  bool own_rows_ = false;     ///< each thread needs the row numbers of its own samples only
  std::vector<bool> shared_;  ///< by kernel: worth sharing out
  std::vector<int> only_if_;  ///< by kernel: the buffer of its condition, or -1
  std::vector<std::unique_ptr<Window>> windows_;  ///< by kernel, null for other kinds
  std::vector<Local> locals_;
  Array arena_{DType::u8, {0}};
  Array row_numbers_{DType::i64, {1}};
  Array scratch_{DType::u8, {0}};  ///< of the library's convolutions, a part for each thread
  std::vector<Worker> workers_;
  Team team_;
  std::optional<StepTrace> trace_;
};

}  // namespace tightloop::backends::cpu
