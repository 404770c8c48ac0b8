// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/generate.h>
#include <tightloop/backends/cpu/compile.h>
#include <tightloop/backends/cpu/facts.h>
#include <tightloop/backends/cpu/memory.h>
#include <tightloop/backends/cpu/plan/recompute.h>
#include <tightloop/backends/cpu/runner.h>
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/object_cache.h>
#include <tightloop/backends/cpu/runtime/thread_trial.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace tightloop::backends::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point t) {
  return std::chrono::duration<double, std::milli>(Clock::now() - t).count();
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const ir::Graph& graph, const CpuOptions& options) : options_(options) {
    const auto start = Clock::now();
    const Recomputed step = recompute(prepare(graph), options_.recompute);
    for (const auto& [node, arrival] : step.waits) again_.insert(node);
    plan_ = make_plan(step);
    if (options_.code) {
      load_or_compile();
      runner_.emplace(plan_, *code_, options_.flush_denormals);
    }
    for (const Kernel& k : plan_.schedule.kernels) report_.kernels.push_back(k.name);
    report_.compile_ms = milliseconds_since(start);
  }

  void reserve(const Sizes& sizes) override {
    require(runner_.has_value(), "a program that was only planned cannot run");
    if (sizes.batch <= reserved_) return;
    reserved_ = sizes.batch;
    const int threads = useful_threads(sizes);
    runner_->reserve(sizes, threads);
    trial_ = ThreadTrial(threads, !options_.exact_threads);
    report_.threads = trial_.threads();
  }

  std::size_t temporary_bytes(const Sizes& sizes) const override {
    return cpu::temporary_bytes(plan_, sizes, useful_threads(sizes));
  }

  double recomputed(const Sizes& sizes) const override { return recomputed_share(plan_, again_, sizes); }

  void run(const RunArgs& args) override {
    const std::int64_t rows = args.sampling.data_rows != 0 ? args.sampling.data_rows : args.sampling.rows;
    reserve({std::min(args.sampling.batch, args.sampling.rows), rows});
    runner_->bind(args);
    std::int64_t step = args.first_step;
    const std::int64_t end = args.first_step + args.steps;
    while (step < end) {
      const auto [threads, steps] = trial_.next(end - step);
      const auto start = Clock::now();
      runner_->run(args, step, steps, threads);
      trial_.took(steps, 1e-3 * milliseconds_since(start));
      step += steps;
    }
    report_.threads = trial_.threads();
  }

  const Report& report() const override { return report_; }

  void trace(std::shared_ptr<Spans> spans) override {
    runner_->trace(spans, spans == nullptr ? std::vector<std::string>() : kernel_labels(plan_));
  }

  StepFacts facts(const Sizes& sizes) const override { return facts_of(plan_, sizes); }

 private:
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
          code_.emplace(*object, plan_);
          report_.cached = true;
          return;
        } catch (const Error&) {
          // An entry that does not link is compiled again and replaced.
        }
      }
    }
    const std::vector<char> object = generate_objects(plan_, target, available_cores());
    code_.emplace(object, plan_);
    if (cache) cache->store(key, object);
  }

  /// What the kernels compute and where they find their memory: code made by another way of cutting the graph
  /// is not ours.
  std::string describe_kernels() const {
    std::string text;
    for (const Kernel& kernel : plan_.schedule.kernels) {
      text += std::to_string(static_cast<int>(kernel.kind)) + (kernel.batchwise ? "b" : "") + kernel.name +
              to_string(Shape(kernel.domain));
      for (const ir::Node* root : kernel.roots)
        if (const auto stores = plan_.stores.find(root); stores != plan_.stores.end())
          for (const int buffer : stores->second) text += " " + std::to_string(buffer);
      text += "\n";
    }
    return text;
  }

  int useful_threads(const Sizes& sizes) const {
    const int cores = available_cores();
    if (options_.exact_threads) return options_.threads > 0 ? options_.threads : cores;
    const int most = options_.threads > 0 ? std::min(options_.threads, cores) : cores;
    if (!runner_) return most;
    return choose_threads(runner_->work(sizes), most, typical_rates(cores));
  }

  CpuOptions options_;
  Plan plan_;
  std::unordered_set<const ir::Node*> again_;  ///< nodes that compute values again
  std::optional<Code> code_;
  std::optional<Runner> runner_;
  ThreadTrial trial_;
  Report report_;
  std::int64_t reserved_ = -1;
};

}  // namespace

std::unique_ptr<Executable> compile_cpu(const ir::Graph& graph, const CpuOptions& options) {
  return std::make_unique<CpuExecutable>(graph, options);
}

std::string explain_cpu(const ir::Graph& graph) {
  return generate_text(make_plan(prepare(graph)), host_target());
}

std::string assembly_cpu(const ir::Graph& graph) {
  return generate_assembly(make_plan(prepare(graph)), host_target());
}

}  // namespace tightloop::backends::cpu
