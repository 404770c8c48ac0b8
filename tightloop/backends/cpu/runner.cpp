// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/memory.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/backends/cpu/runner.h>
#include <tightloop/backends/cpu/runtime/flush_denormals.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tightloop::backends::cpu {
namespace {

/// Kernels with fewer operations or bytes than this run on one thread.
constexpr double kSmallestShare = 16384;
constexpr std::size_t kAlignment = 64;
/// Between the memories of two threads, against lines fetched in pairs.
constexpr std::size_t kApart = 128;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Which groups a thread takes.
std::pair<std::int64_t, std::int64_t> groups_of_thread(std::int64_t groups, int thread, int threads) {
  return {groups * thread / threads, groups * (thread + 1) / threads};
}

std::byte* aligned(std::byte* p) {
  const auto past = reinterpret_cast<std::uintptr_t>(p) % kAlignment;
  return past == 0 ? p : p + (kAlignment - past);
}

}  // namespace

Runner::Window::Window(const ir::Node& n) : batch(n.inputs[0].dim(0)), loops(n) {
  if (is_library_convolution(n)) library.emplace(library_convolution(n));
  for (std::size_t i = 0; i < std::min(operands.size(), n.inputs.size()); ++i)
    operands[i] = operand_of(&n, i);
}

std::int64_t Runner::Window::items(std::int64_t rows) const {
  return library ? library->items(rows) : loops.items(rows);
}

Runner::Runner(const Plan& plan, const Code& code, bool flush_denormals)
    : plan_(plan), code_(code), flush_denormals_(flush_denormals) {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].kind == Buffer::Kind::input && role(i) == "rows") rows_buffer_ = static_cast<int>(i);
  own_rows_ = rows_buffer_ >= 0 && read_in_chains_only(rows_buffer_);
  for (const Kernel& kernel : plan_.schedule.kernels) {
    windows_.push_back(kernel.kind == KernelKind::window ? std::make_unique<Window>(*kernel.roots[0])
                                                         : nullptr);
    only_if_.push_back(kernel.only_if == nullptr ? -1 : plan_.buffer_of(kernel.only_if));
  }
}

std::string Runner::role(std::size_t buffer) const {
  return ir::input_role(plan_.graph.inputs[static_cast<std::size_t>(plan_.buffers[buffer].index)].node());
}

bool Runner::read_in_chains_only(int buffer) const {
  for (const auto& copy : plan_.copies)
    if (copy.from == buffer) return false;
  std::unordered_set<const ir::Node*> roots;
  for (const auto& [node, home] : plan_.schedule.home) roots.insert(node);
  for (const Kernel& kernel : plan_.schedule.kernels) {
    if (kernel.batchwise) continue;
    for (const ir::Node* root : kernel.roots)
      for (const Leaf& leaf : leaves_of(root, roots))
        if (is_input(leaf.node) && plan_.buffer_of(leaf.node) == buffer) return false;
  }
  return true;
}

KernelWork Runner::work_of(std::size_t number, const Sizes& sizes) const {
  const Kernel& kernel = plan_.schedule.kernels[number];
  KernelWork w;
  for (const ir::Node* r : kernel.roots) {
    w.operations += flops_of(*r, sizes) * (r->op->kind == ir::OpKind::elementwise ? 4 : 1);
    w.bytes += static_cast<double>(r->type.shape.count(sizes)) * static_cast<double>(size_of(r->type.dtype));
    if (is_reduction(r)) w.bytes += static_cast<double>(r->inputs[0].shape().count(sizes)) * 4;
  }
  if (kernel.batchwise) w.parts = groups_of(sizes.batch, plan_.stretch).count;
  if (const auto& window = windows_[number]) w.parts = window->items(window->batch.value(sizes));
  return w;
}

StepWork Runner::work(const Sizes& sizes) const {
  StepWork work;
  for (std::size_t k = 0; k < plan_.schedule.kernels.size(); ++k) work.kernels.push_back(work_of(k, sizes));
  work.barriers = static_cast<double>(plan_.schedule.phases.size()) + (own_rows_ ? 0 : 1);
  return work;
}

void Runner::reserve(const Sizes& sizes, int threads) {
  const Layout layout = lay_out(plan_, sizes);
  const std::size_t shared = rounded(layout.bytes, kApart);
  const std::size_t local = rounded(layout.local_bytes, kApart);
  const auto team = static_cast<std::size_t>(threads);
  arena_ = Array(DType::u8, {static_cast<std::int64_t>(shared + team * local + kAlignment)});
  row_numbers_ = Array(DType::i64, {std::max<std::int64_t>(1, sizes.batch)});
  locals_.clear();
  workers_.assign(team, {});
  for (std::size_t t = 0; t < team; ++t) {
    workers_[t].local = arena_.bytes() + shared + t * local;
    workers_[t].buffers.assign(plan_.buffers.size(), nullptr);
  }
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& b = plan_.buffers[i];
    if (b.kind == Buffer::Kind::temporary)
      for (Worker& w : workers_) w.buffers[i] = arena_.bytes() + layout.offsets[i];
    if (b.kind == Buffer::Kind::local)
      locals_.push_back({i, layout.offsets[i],
                         static_cast<std::ptrdiff_t>(b.type.shape.count().factor) *
                             static_cast<std::ptrdiff_t>(size_of(b.type.dtype))});
  }
  if (trace_) trace_->reserve(threads);
  shared_.clear();
  for (std::size_t k = 0; k < plan_.schedule.kernels.size(); ++k) {
    const KernelWork w = work_of(k, sizes);
    shared_.push_back(w.operations > kSmallestShare || w.bytes > kSmallestShare);
  }
}

void Runner::prepare_windows(const Sizes& sizes) {
  for (const auto& w : windows_)
    if (w && w->library && !w->library->prepare(w->batch.value(sizes))) {
      require(!w->library->reads_low(),
              "oneDNN has no convolution of this shape, and its inputs are not f32");
      w->library.reset();
    }
}

void Runner::attach_scratch() {
  bool due = false;
  std::size_t bytes = 0;
  for (const auto& w : windows_)
    if (w && w->library) {
      due = due || !w->library->attached(workers_.size());
      bytes = std::max(bytes, rounded(w->library->scratch_bytes(), kApart));
    }
  if (!due) return;
  scratch_ = Array(DType::u8, {static_cast<std::int64_t>(bytes * workers_.size() + kAlignment)});
  std::vector<std::byte*> parts;
  for (std::size_t t = 0; t < workers_.size(); ++t) parts.push_back(aligned(scratch_.bytes()) + t * bytes);
  for (const auto& w : windows_)
    if (w && w->library) w->library->attach(parts);
}

void Runner::bind(const RunArgs& args) {
  const std::int64_t rows = args.sampling.data_rows != 0 ? args.sampling.data_rows : args.sampling.rows;
  const std::int64_t batch = std::min(args.sampling.batch, args.sampling.count());
  for (const std::int64_t size : {batch, batch == 0 ? 0 : args.sampling.count() % batch})
    if (size != 0) prepare_windows({size, rows, groups_of(size, plan_.stretch).count});
  attach_scratch();
  for (Worker& w : workers_) {
    w.context = {w.buffers.data(), 0, rows, 0, 0, 0, static_cast<std::int64_t>(args.seed), 1, 0, 1};
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& b = plan_.buffers[i];
      const auto at = static_cast<std::size_t>(b.index);
      if (b.kind == Buffer::Kind::result) w.buffers[i] = args.outputs[at];
      if (b.kind != Buffer::Kind::input) continue;
      const std::string name = role(i);
      w.buffers[i] = name == "step"    ? &w.context.step
                     : name == "seed"  ? &w.context.seed
                     : name == "first" ? &w.context.first
                     : name == "epoch" ? &w.context.epoch
                     : name == "rows"  ? static_cast<void*>(row_numbers_.bytes())
                                       : args.inputs[at];
    }
  }
}

void Runner::trace(std::shared_ptr<Spans> spans, const std::vector<std::string>& kernels) {
  trace_.reset();
  if (spans == nullptr) return;
  trace_.emplace(std::move(spans), kernels, static_cast<int>(plan_.schedule.phases.size()));
  trace_->reserve(static_cast<int>(std::max<std::size_t>(1, workers_.size())));
}

void Runner::run(const RunArgs& args, std::int64_t first, std::int64_t steps, int threads) {
  if (!trace_ || !trace_->on()) return run_steps<false>(args, first, steps, threads);
  const std::int64_t traced = trace_->steps_with_room(steps, threads);
  if (traced > 0) run_steps<true>(args, first, traced, threads);
  if (traced == steps) return;
  trace_->leave_out(steps - traced);
  run_steps<false>(args, first + traced, steps - traced, threads);
}

template <bool traced>
void Runner::run_steps(const RunArgs& args, std::int64_t first, std::int64_t steps, int threads) {
  auto body = [&](int thread, int team) { loop<traced>(args, first, steps, thread, team); };
  if (threads == 1)
    body(0, 1);
  else
    team_.run(threads, body);
}

template <bool traced>
void Runner::loop(const RunArgs& args, std::int64_t first, std::int64_t steps, int thread, int threads) {
  std::optional<FlushDenormals> flush;
  if (flush_denormals_) flush.emplace();
  std::int64_t recorded = args.recorder != nullptr ? args.recorder->steps().after(first) : -1;
  for (std::int64_t done = first + 1; done <= first + steps; ++done) {
    if constexpr (traced) trace_->thread(thread).begin_step(done - 1);
    begin_step<traced>(args.sampling, done - 1, thread, threads);
    for (const Phase& phase : plan_.schedule.phases) {
      run_phase<traced>(phase, thread, threads);
      wait<traced>(thread, threads);
    }
    if (!plan_.copies.empty()) {
      if (thread == 0) {
        copy_states(workers_[0]);
        if constexpr (traced) trace_->thread(0).lap(trace_->copy());
      }
      wait<traced>(thread, threads);
    }
    if (done == recorded) {
      if (thread == 0) {
        args.recorder->write(done, args.recorded);
        if constexpr (traced) trace_->thread(0).lap(trace_->record());
      }
      wait<traced>(thread, threads);
      const RecordedSteps& which = args.recorder->steps();
      recorded =
          which.doubles_after == 0 ? done + which.every : which.after(done);  // saves a division a step
    }
    if constexpr (traced) trace_->thread(thread).end_step(trace_->step());
  }
}

template <bool traced>
void Runner::begin_step(const Sampling& sampling, std::int64_t step, int thread, int threads) {
  const Sampling::Batch batch = sampling.at(step);
  const Groups groups = groups_of(batch.size, plan_.stretch);
  StepContext& context = workers_[static_cast<std::size_t>(thread)].context;
  context.batch = batch.size;
  context.first = batch.first;
  context.epoch = batch.epoch;
  context.step = step;
  context.groups = groups.count;
  if (rows_buffer_ < 0) return;
  std::int64_t* numbers = row_numbers_.as<std::int64_t>().data();
  if (own_rows_) {
    const auto [begin, end] = groups_of_thread(groups.count, thread, threads);
    const std::int64_t from = begin * groups.rows;
    const std::int64_t count = std::min(end * groups.rows, batch.size) - from;
    if (count > 0) sampling.fill({batch.epoch, batch.first + from, count}, numbers + from);
    if constexpr (traced) trace_->thread(thread).lap(trace_->rows());
    return;
  }
  if (thread == 0) {
    sampling.fill(batch, numbers);
    if constexpr (traced) trace_->thread(0).lap(trace_->rows());
  }
  wait<traced>(thread, threads);
}

template <bool traced>
void Runner::run_phase(const Phase& phase, int thread, int threads) {
  if (phase.first < phase.whole) run_chain<traced>(phase, thread, threads);
  const Worker& worker = workers_[static_cast<std::size_t>(thread)];
  int dealt = 0;
  for (auto k = static_cast<std::size_t>(phase.whole); k < static_cast<std::size_t>(phase.last); ++k) {
    if (!is_due(k, worker)) continue;
    if (shared_[k])
      run_kernel(k, worker, thread, threads);
    else if (dealt++ % threads == thread)
      run_kernel(k, worker, 0, 1);
    else
      continue;
    if constexpr (traced) trace_->thread(thread).lap(trace_->kernels() + static_cast<std::int32_t>(k));
  }
}

template <bool traced>
void Runner::run_chain(const Phase& phase, int thread, int threads) {
  Worker& worker = workers_[static_cast<std::size_t>(thread)];
  StepContext& context = worker.context;
  const auto kernels =
      std::pair(static_cast<std::size_t>(phase.first), static_cast<std::size_t>(phase.whole));
  const Groups groups = groups_of(context.batch, plan_.stretch);
  const auto [first, last] = groups_of_thread(groups.count, thread, threads);
  for (context.group = first; context.group < last; ++context.group) {
    const std::int64_t end = std::min((context.group + 1) * groups.rows, context.batch);
    std::int64_t begin = context.group * groups.rows;
    context.fresh = 1;
    do {
      const std::int64_t stretch_end = std::min(begin + plan_.stretch, end);
      for (const Local& l : locals_)
        worker.buffers[l.buffer] = worker.local + (l.offset - begin * l.row_bytes);
      bool timed = false;
      if constexpr (traced) timed = trace_->thread(thread).begin_stretch(kernels.first);
      for (std::size_t k = kernels.first; k < kernels.second; ++k) {
        code_.call(k, &context, begin, stretch_end);
        if constexpr (traced)
          if (timed) trace_->thread(thread).stretch_lap(k);
      }
      if constexpr (traced)
        if (timed) trace_->thread(thread).end_stretch(kernels.first, kernels.second);
      context.fresh = 0;
      begin = stretch_end;
    } while (begin < end);
  }
  if constexpr (traced) trace_->thread(thread).chain_lap(kernels.first, kernels.second, trace_->kernels());
}

void Runner::run_kernel(std::size_t kernel, const Worker& worker, int part, int parts) {
  if (windows_[kernel])
    run_window(kernel, worker, part, parts);
  else if (plan_.schedule.kernels[kernel].kind == KernelKind::library)
    run_library(plan_.schedule.kernels[kernel].roots[0], worker, part, parts);
  else
    code_.call(kernel, &worker.context, part, parts);
}

void Runner::run_library(const ir::Node* matmul, const Worker& worker, int part, int parts) {
  const Sizes sizes{worker.context.batch, worker.context.rows};
  const Shape& shape = matmul->type.shape;
  const Shape& a = matmul->inputs[0].shape();
  const bool ta = matmul->attrs.get<bool>("transpose_a", false);
  const bool tb = matmul->attrs.get<bool>("transpose_b", false);
  const auto side = [&](const Shape& s, std::size_t from_end) { return s[s.rank() - from_end].value(sizes); };
  const std::int64_t m = side(shape, 2), n = side(shape, 1), depth = side(a, ta ? 2 : 1);
  if (m * n == 0) return;
  const std::int64_t batch = shape.count(sizes) / (m * n);
  const LibraryMatmul product = dense_matmul(m, n, depth, ta, tb, batch);
  const void *left = memory_of(operand_of(matmul, 0), worker),
             *right = memory_of(operand_of(matmul, 1), worker);
  auto* out = static_cast<float*>(memory_of(matmul, worker));
  if (library_reads_low(matmul))
    library_low_matmul_part(product, DType::bf16, left, right, out, part, parts);
  else
    library_matmul_part(product, static_cast<const float*>(left), static_cast<const float*>(right), out, part,
                        parts);
}

void Runner::run_window(std::size_t kernel, const Worker& worker, int part, int parts) {
  const Window& window = *windows_[kernel];
  const ir::Node* node = plan_.schedule.kernels[kernel].roots[0];
  const std::int64_t batch = window.batch.value({worker.context.batch, worker.context.rows});
  const auto input = [&](std::size_t i) -> const void* {
    return window.operands[i] != nullptr ? memory_of(window.operands[i], worker) : nullptr;
  };
  void* out = memory_of(node, worker);
  if (window.library)
    window.library->run(batch, input(0), input(1), static_cast<float*>(out), part, parts,
                        static_cast<std::size_t>(&worker - workers_.data()));
  else
    window.loops.run(batch, input(0), input(1), out, part, parts);
}

void Runner::copy_states(const Worker& worker) {
  const Sizes sizes{worker.context.batch, worker.context.rows, worker.context.groups};
  for (const auto& copy : plan_.copies) {
    const TensorType& type = plan_.buffers[static_cast<std::size_t>(copy.to)].type;
    std::memcpy(worker.buffers[static_cast<std::size_t>(copy.to)],
                worker.buffers[static_cast<std::size_t>(copy.from)],
                static_cast<std::size_t>(type.shape.count(sizes)) * size_of(type.dtype));
  }
}

}  // namespace tightloop::backends::cpu
