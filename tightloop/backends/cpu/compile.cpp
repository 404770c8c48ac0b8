// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/generate.h>
#include <tightloop/backends/cpu/compile.h>
#include <tightloop/backends/cpu/library/matmul.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/cost.h>
#include <tightloop/backends/cpu/runtime/flush_denormals.h>
#include <tightloop/backends/cpu/runtime/object_cache.h>
#include <tightloop/backends/cpu/runtime/team.h>
#include <tightloop/backends/cpu/runtime/thread_trial.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

namespace tightloop::backends::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point t) {
  return std::chrono::duration<double, std::milli>(Clock::now() - t).count();
}

/// Loops the kernels of a plan over steps.
class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const ir::Graph& graph, const CpuOptions& options) : options_(options) {
    const auto start = Clock::now();
    plan_ = make_plan(prepare(graph));
    load_or_compile();
    buffers_.assign(plan_.buffers.size(), nullptr);
    for (const Kernel& k : plan_.schedule.kernels) report_.kernels.push_back(k.name);
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].kind == Buffer::Kind::input && role(i) == "rows")
        rows_buffer_ = static_cast<int>(i);
    report_.compile_ms = milliseconds_since(start);
  }

  void reserve(const Sizes& sizes) override {
    if (sizes.batch <= reserved_ && arena_.count() != 0) return;
    reserved_ = sizes.batch;
    const Layout layout = lay_out(plan_, sizes);
    arena_ = Array(DType::u8, {static_cast<std::int64_t>(layout.bytes + 64)});
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (layout.offsets[i] >= 0) buffers_[i] = arena_.bytes() + layout.offsets[i];
    row_numbers_ = Array(DType::i64, {std::max<std::int64_t>(1, sizes.batch)});
    if (rows_buffer_ >= 0) buffers_[static_cast<std::size_t>(rows_buffer_)] = row_numbers_.bytes();
    choose_team(sizes);
  }

  std::size_t temporary_bytes(const Sizes& sizes) const override {
    return lay_out(plan_, sizes).bytes + static_cast<std::size_t>(sizes.batch) * sizeof(std::int64_t);
  }

  void run(const RunArgs& args) override {
    const std::int64_t rows = args.sampling.data_rows != 0 ? args.sampling.data_rows : args.sampling.rows;
    reserve({std::min(args.sampling.batch, args.sampling.rows), rows});
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& b = plan_.buffers[i];
      const auto at = static_cast<std::size_t>(b.index);
      if (b.kind == Buffer::Kind::result) buffers_[i] = args.outputs[at];
      if (b.kind == Buffer::Kind::input && static_cast<int>(i) != rows_buffer_)
        buffers_[i] = given(i, args.inputs[at]);
    }
    context_ = {buffers_.data(), 0, rows, 0, static_cast<std::int64_t>(args.seed)};
    std::int64_t step = args.first_step;
    const std::int64_t end = args.first_step + args.steps;
    while (step < end) {
      const auto [threads, steps] = trial_.next(end - step);
      const auto start = Clock::now();
      run_stretch(args.sampling, step, steps, threads);
      trial_.took(steps, 1e-3 * milliseconds_since(start));
      step += steps;
    }
    report_.threads = trial_.threads();
  }

  const Report& report() const override { return report_; }

 private:
  std::string role(std::size_t buffer) const {
    return ir::input_role(plan_.graph.inputs[static_cast<std::size_t>(plan_.buffers[buffer].index)].node());
  }

  /// Where input `buffer` lies: step and seed are read from the context.
  void* given(std::size_t buffer, void* bound) {
    const std::string name = role(buffer);
    if (name == "step") return &context_.step;
    return name == "seed" ? &context_.seed : bound;
  }

  void load_or_compile() {
    const Target target = narrowed(host_target(), options_.vector_bytes);
    std::optional<ObjectCache> cache;
    std::string key;
    if (options_.disk_cache) {
      options_.cache_directory.empty() ? cache.emplace() : cache.emplace(options_.cache_directory);
      key = content_key(std::to_string(kCodeVersion) + compiler_version() + target.triple + target.cpu +
                        target.features + ir::print(plan_.graph) + describe_kernels());
      if (const auto object = cache->load(key)) {
        try {
          code_.emplace(*object, plan_.schedule.kernels);
          report_.cached = true;
          return;
        } catch (const Error&) {
          // An entry that does not link is compiled again and replaced.
        }
      }
    }
    const std::vector<char> object = generate_objects(plan_, target, available_cores());
    code_.emplace(object, plan_.schedule.kernels);
    if (cache) cache->store(key, object);
  }

  /// What the kernels compute and where they find their memory: code made by another way of cutting the graph
  /// is not ours.
  std::string describe_kernels() const {
    std::string text;
    for (const Kernel& kernel : plan_.schedule.kernels) {
      text += std::to_string(static_cast<int>(kernel.kind)) + kernel.name + to_string(Shape(kernel.domain));
      for (const ir::Node* root : kernel.roots)
        if (const auto stores = plan_.stores.find(root); stores != plan_.stores.end())
          for (const int buffer : stores->second) text += " " + std::to_string(buffer);
      text += "\n";
    }
    return text;
  }

  /// Work of each kernel, from which the number of threads follows; kernels too small to share run on one.
  void choose_team(const Sizes& sizes) {
    StepWork work;
    shared_.clear();
    for (const Kernel& kernel : plan_.schedule.kernels) {
      const KernelWork w = work_of(kernel, sizes);
      shared_.push_back(w.operations > kSmallestShare || w.bytes > kSmallestShare);
      if (!shared_.back()) continue;
      work.kernels.push_back(w);
      ++work.barriers;
    }
    work.barriers += 2;
    const int most = options_.threads > 0 ? std::min(options_.threads, available_cores()) : available_cores();
    const int useful =
        options_.exact_threads ? most : choose_threads(work, most, typical_rates(available_cores()));
    trial_ = ThreadTrial(useful, !options_.exact_threads);
    report_.threads = trial_.threads();
  }

  KernelWork work_of(const Kernel& kernel, const Sizes& sizes) const {
    KernelWork w;
    for (const ir::Node* r : kernel.roots) {
      w.operations += flops_of(*r, sizes) * (r->op->kind == ir::OpKind::elementwise ? 4 : 1);
      w.bytes +=
          static_cast<double>(r->type.shape.count(sizes)) * static_cast<double>(size_of(r->type.dtype));
      if (is_reduction(r)) w.bytes += static_cast<double>(r->inputs[0].shape().count(sizes)) * 4;
    }
    return w;
  }

  void run_stretch(const Sampling& sampling, std::int64_t first, std::int64_t steps, int threads) {
    auto body = [&](int thread, int team) { loop(sampling, first, steps, thread, team); };
    if (threads == 1)
      body(0, 1);
    else
      team_.run(threads, body);
  }

  void loop(const Sampling& sampling, std::int64_t first, std::int64_t steps, int thread, int threads) {
    std::optional<FlushDenormals> flush;
    if (options_.flush_denormals) flush.emplace();
    for (std::int64_t s = 0; s < steps; ++s) {
      if (thread == 0) begin_step(sampling, first + s);
      if (threads > 1) team_.barrier().wait(thread);
      step(thread, threads);
      if (threads > 1) team_.barrier().wait(thread);
    }
  }

  void begin_step(const Sampling& sampling, std::int64_t step) {
    const Sampling::Batch batch = sampling.at(step);
    context_.batch = batch.size;
    context_.step = step;
    if (rows_buffer_ >= 0) sampling.fill(batch, row_numbers_.as<std::int64_t>().data());
  }

  void step(int thread, int threads) {
    bool alone = true;  // whether everything since the last barrier ran on thread 0
    for (std::size_t k = 0; k < shared_.size(); ++k) {
      if (threads > 1 && !(alone && !shared_[k])) team_.barrier().wait(thread);
      if (threads > 1 && shared_[k])
        run_kernel(k, thread, threads);
      else if (thread == 0)
        run_kernel(k, 0, 1);
      alone = !shared_[k];
    }
    if (plan_.copies.empty()) return;
    if (threads > 1) team_.barrier().wait(thread);
    if (thread == 0) copy_states();
  }

  void run_kernel(std::size_t k, int part, int parts) {
    if (const KernelFn generated = code_->kernel(k))
      generated(&context_, part, parts);
    else
      run_library(plan_.schedule.kernels[k].roots[0], part, parts);
  }

  void run_library(const ir::Node* matmul, int part, int parts) {
    const Sizes sizes{context_.batch, context_.rows};
    const Shape& shape = matmul->type.shape;
    const Shape& a = matmul->inputs[0].shape();
    const bool ta = matmul->attrs.get<bool>("transpose_a", false);
    const bool tb = matmul->attrs.get<bool>("transpose_b", false);
    const auto side = [&](const Shape& s, std::size_t from_end) {
      return s[s.rank() - from_end].value(sizes);
    };
    const std::int64_t m = side(shape, 2), n = side(shape, 1), depth = side(a, ta ? 2 : 1);
    if (m * n == 0) return;
    const std::int64_t batch = shape.count(sizes) / (m * n);
    const auto memory = [&](const ir::Node* node) {
      return buffers_[static_cast<std::size_t>(plan_.buffer_of(node))];
    };
    library_matmul_part(dense_matmul(m, n, depth, ta, tb, batch),
                        static_cast<const float*>(memory(storage_of(matmul->inputs[0].id()))),
                        static_cast<const float*>(memory(storage_of(matmul->inputs[1].id()))),
                        static_cast<float*>(memory(matmul)), part, parts);
  }

  void copy_states() {
    const Sizes sizes{context_.batch, context_.rows};
    for (const auto& copy : plan_.copies) {
      const TensorType& type = plan_.buffers[static_cast<std::size_t>(copy.to)].type;
      std::memcpy(buffers_[static_cast<std::size_t>(copy.to)], buffers_[static_cast<std::size_t>(copy.from)],
                  static_cast<std::size_t>(type.shape.count(sizes)) * size_of(type.dtype));
    }
  }

  static constexpr double kSmallestShare = 16384;

  CpuOptions options_;
  Plan plan_;
  std::optional<Code> code_;
  Report report_;
  std::vector<void*> buffers_;
  std::vector<bool> shared_;
  Array arena_{DType::u8, {0}};
  Array row_numbers_{DType::i64, {1}};
  std::int64_t reserved_ = -1;
  int rows_buffer_ = -1;
  ThreadTrial trial_;
  StepContext context_{};
  Team team_;
};

}  // namespace

std::unique_ptr<Executable> compile_cpu(const ir::Graph& graph, const CpuOptions& options) {
  return std::make_unique<CpuExecutable>(graph, options);
}

std::string explain_cpu(const ir::Graph& graph) {
  return generate_text(make_plan(prepare(graph)), host_target());
}

}  // namespace tightloop::backends::cpu
