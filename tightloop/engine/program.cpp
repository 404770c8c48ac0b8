// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/reference/reference.h>
#include <tightloop/engine/lift.h>
#include <tightloop/engine/program.h>
#include <tightloop/passes/pipeline.h>

#if __has_include(<tightloop/backends/cpu/compile.h>)
#include <tightloop/backends/cpu/compile.h>
#define TIGHTLOOP_HAS_CPU
#endif

#include <algorithm>
#include <cstring>

namespace tightloop {
namespace {

std::unique_ptr<backends::Executable> make_executable(const ir::Graph& graph, const CompileOptions& options) {
#ifdef TIGHTLOOP_HAS_CPU
  if (options.backend == Backend::cpu)
    return backends::cpu::compile_cpu(graph, {.threads = options.threads,
                                              .disk_cache = options.disk_cache,
                                              .cache_directory = options.cache_directory,
                                              .flush_denormals = options.flush_denormals,
                                              .recompute = options.recompute,
                                              .code = options.code});
#endif
  return backends::make_reference(graph, options.precise);
}

bool fits(const Array& value, const TensorType& type) {
  if (value.dtype() != type.dtype || value.rank() != type.shape.rank()) return false;
  for (std::size_t i = 0; i < value.rank(); ++i)
    if (type.shape[i].is_static() && value.dims()[i] != type.shape[i].factor) return false;
  return true;
}

bool fits(const Array& value, const TensorType& type, const Sizes& sizes) {
  for (std::size_t i = 0; i < value.rank(); ++i)
    if (value.dims()[i] != type.shape[i].value(sizes)) return false;
  return true;
}

std::size_t bytes_of(const TensorType& type, const Sizes& sizes) {
  return static_cast<std::size_t>(type.shape.count(sizes)) * size_of(type.dtype);
}

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

Sizes sizes_at(const Sampling& s, std::int64_t step) {
  return {s.at(step).size, s.data_rows != 0 ? s.data_rows : s.rows};
}

Sizes largest(const Sampling& s) {
  return {std::min(s.batch, s.count()), s.data_rows != 0 ? s.data_rows : s.rows};
}

struct Input {
  std::string name;
  std::string role;
  TensorType type;
  Array value;
  bool bound = false;

  bool is_state() const { return role == "state"; }
  bool is_given() const { return is_state() || role == "data" || role == "argument"; }
};

struct Result {
  std::string name;
  TensorType type;
  Input* state = nullptr;  ///< where it lives when it is a state's next value
  Array buffer;            ///< u8, as large as the largest batch needs
};

}  // namespace

struct Program::Impl {
  ir::Graph graph;
  std::vector<ir::PassRecord> passes;
  std::unique_ptr<backends::Executable> executable;
  std::vector<Input> inputs;
  std::vector<Result> results;
  backends::RunArgs args;
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Spans> spans;
  std::vector<const Result*> recorded;
  Sizes reserved{0, 0};
  Sizes last{0, 0};

  void list_names();
  std::size_t find(std::string_view name) const;
  Input& find_state(std::string_view name);
  Result& find_result(std::string_view name);
  void place_states();
  void reserve(const Sizes& sizes);
  void check_inputs(const Sizes& sizes) const;
  void refresh_pointers();
};

void Program::Impl::list_names() {
  for (const Tensor& t : graph.inputs) {
    Input input;
    input.name = ir::input_name(t.node());
    input.role = ir::input_role(t.node());
    input.type = t.type();
    inputs.push_back(std::move(input));
  }
  for (const auto& o : graph.outputs) {
    const auto state = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const Input& i) { return i.is_state() && i.name == o.name; });
    results.push_back({o.name, o.value.type(), state == inputs.end() ? nullptr : &*state, Array()});
  }
  args.inputs.resize(inputs.size());
  args.outputs.resize(results.size());
}

std::size_t Program::Impl::find(std::string_view name) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == name && inputs[i].is_given()) return i;
  std::vector<std::string> known;
  for (const Input& input : inputs)
    if (input.is_given()) known.push_back(input.name);
  throw Error("program: there is no input '" + std::string(name) + "'" + suggestion(name, known));
}

Input& Program::Impl::find_state(std::string_view name) {
  Input& input = inputs[find(name)];
  if (!input.is_state())
    throw Error("program: '" + input.name + "' is of role " + input.role + ", not a state");
  place_states();
  return input;
}

Result& Program::Impl::find_result(std::string_view name) {
  for (Result& r : results)
    if (r.name == name) return r;
  std::vector<std::string> known;
  for (const Result& r : results) known.push_back(r.name);
  throw Error("program: there is no output '" + std::string(name) + "'" + suggestion(name, known));
}

/// Gives every state that is not bound its slot.
void Program::Impl::place_states() {
  std::size_t bytes = 0;
  for (const Input& input : inputs)
    if (input.is_state() && !input.bound) bytes += aligned(bytes_of(input.type, {}));
  const bool placed =
      std::none_of(inputs.begin(), inputs.end(), [](const Input& i) { return i.is_state() && !i.bound; });
  if (placed) return;
  const auto arena =
      std::make_shared<Array>(DType::u8, std::vector<std::int64_t>{static_cast<std::int64_t>(bytes)});
  std::byte* at = arena->bytes();
  for (Input& input : inputs) {
    if (!input.is_state() || input.bound) continue;
    input.value = Array::borrow(input.type.dtype, input.type.shape.values({}), at, arena);
    input.bound = true;
    at += aligned(bytes_of(input.type, {}));
  }
}

void Program::Impl::reserve(const Sizes& sizes) {
  if (sizes.batch <= reserved.batch && sizes.rows <= reserved.rows) return;
  reserved = {std::max(sizes.batch, reserved.batch), std::max(sizes.rows, reserved.rows)};
  executable->reserve(reserved);
  for (Result& r : results)
    if (r.state == nullptr)
      r.buffer = Array(DType::u8, {static_cast<std::int64_t>(bytes_of(r.type, reserved))});
}

void Program::Impl::check_inputs(const Sizes& sizes) const {
  for (const Input& input : inputs) {
    if (!input.is_given()) continue;
    if (!input.bound) throw Error("program: the input '" + input.name + "' is not bound");
    if (fits(input.value, input.type, sizes)) continue;
    throw Error("program: the input '" + input.name + "' is bound to " + input.value.type_string() +
                ", but " + to_string(input.type) + " with B = " + std::to_string(sizes.batch) +
                " and N = " + std::to_string(sizes.rows) + " is needed");
  }
}

void Program::Impl::refresh_pointers() {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    args.inputs[i] = inputs[i].is_given() ? inputs[i].value.bytes() : nullptr;
  for (std::size_t i = 0; i < results.size(); ++i)
    args.outputs[i] = results[i].state != nullptr ? nullptr : results[i].buffer.bytes();
  args.recorder = recorder.get();
  args.recorded.clear();
  for (const Result* r : recorded)
    args.recorded.push_back({r->type.dtype, (r->state != nullptr ? r->state->value : r->buffer).bytes()});
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::compile(const ir::Graph& graph, const CompileOptions& options) {
  Lifted lifted = lift_values(graph, Scalars::constants);
  ir::PassResult optimized = ir::run_passes(std::move(lifted.graph), passes::pipeline(), options.passes);
  auto impl = std::make_unique<Impl>();
  impl->graph = std::move(optimized.graph);
  impl->passes = std::move(optimized.records);
  impl->executable = make_executable(impl->graph, options);
  impl->list_names();
  Program program(std::move(impl));
  for (auto& [name, value] : lifted.bound) program.bind(name, std::move(value));
  return program;
}

const ir::Graph& Program::graph() const { return impl_->graph; }

std::size_t Program::input_index(std::string_view input) const { return impl_->find(input); }

void Program::bind(std::string_view name, Array value) { bind(impl_->find(name), std::move(value)); }

void Program::bind(std::size_t index, Array value) {
  Input& input = impl_->inputs.at(index);
  if (!fits(value, input.type))
    throw Error("program: the input '" + input.name + "' takes " + to_string(input.type) + ", " +
                value.type_string() + " came");
  input.value = std::move(value);
  input.bound = true;
}

void Program::release(std::string_view name) {
  Input& input = impl_->inputs[impl_->find(name)];
  input.value = Array();
  input.bound = false;
}

Array Program::state(std::string_view name) { return impl_->find_state(name).value; }

void Program::set_state(std::string_view name, const Array& value) {
  Input& input = impl_->find_state(name);
  if (!fits(value, input.type))
    throw Error("program: the state '" + input.name + "' is " + to_string(input.type) + ", " +
                value.type_string() + " came");
  if (value.size_bytes() != 0) std::memcpy(input.value.bytes(), value.bytes(), value.size_bytes());
}

std::vector<std::string> Program::state_names() const {
  std::vector<std::string> names;
  for (const Input& input : impl_->inputs)
    if (input.is_state()) names.push_back(input.name);
  return names;
}

Program::Snapshot Program::snapshot() {
  impl_->place_states();
  Snapshot out;
  for (const Input& input : impl_->inputs)
    if (input.is_state()) out.push_back(input.value.clone());
  return out;
}

void Program::restore(const Snapshot& states) {
  const std::vector<std::string> names = state_names();
  require(states.size() == names.size(), "Program::restore: a snapshot of another program");
  for (std::size_t i = 0; i < names.size(); ++i) set_state(names[i], states[i]);
}

void Program::set_seed(std::uint64_t seed) { impl_->args.seed = seed; }

void Program::reserve(const Sampling& sampling) {
  impl_->place_states();
  impl_->reserve(largest(sampling));
}

void Program::run(const Sampling& sampling, std::int64_t first_step, std::int64_t steps) {
  if (steps <= 0) return;
  reserve(sampling);
  impl_->check_inputs(sizes_at(sampling, first_step));
  impl_->refresh_pointers();
  impl_->args.sampling = sampling;
  impl_->args.first_step = first_step;
  impl_->args.steps = steps;
  impl_->executable->run(impl_->args);
  impl_->last = sizes_at(sampling, first_step + steps - 1);
}

void Program::run_once(std::int64_t batch) { run({.rows = batch, .batch = batch}, 0, 1); }

void Program::record(std::shared_ptr<Recorder> recorder) {
  std::vector<const Result*> recorded;
  if (recorder != nullptr)
    for (const std::string& name : recorder->names()) {
      recorded.push_back(&impl_->find_result(name));
      const TensorType& type = recorded.back()->type;
      if (type.shape.rank() != 0 || type.dtype == DType::bf16 || type.dtype == DType::f16)
        throw Error("program: the output '" + name + "' is " + to_string(type) +
                    "; what is recorded must be one number, and of no 16-bit type");
    }
  impl_->recorder = std::move(recorder);
  impl_->recorded = std::move(recorded);
  impl_->args.recorded.reserve(impl_->recorded.size());
}

void Program::trace(std::shared_ptr<Spans> spans) {
  impl_->spans = std::move(spans);
  impl_->executable->trace(impl_->spans);
}

Spans* Program::spans() const { return impl_->spans.get(); }

backends::StepFacts Program::facts(const Sizes& sizes) const { return impl_->executable->facts(sizes); }

Array Program::result(std::string_view output) {
  Result& r = impl_->find_result(output);
  if (impl_->last.batch == 0) throw Error("program: '" + r.name + "' has no value before the first run");
  if (r.state != nullptr) return r.state->value;
  const auto owner = std::make_shared<Array>(r.buffer);
  return Array::borrow(r.type.dtype, r.type.shape.values(impl_->last), r.buffer.bytes(), owner);
}

MemoryReport Program::memory(const Sizes& sizes) const {
  MemoryReport report;
  for (const Input& input : impl_->inputs)
    if (input.is_given()) (input.is_state() ? report.state : report.data) += bytes_of(input.type, sizes);
  for (const Result& r : impl_->results)
    if (r.state == nullptr) report.results += bytes_of(r.type, sizes);
  report.temporaries = impl_->executable->temporary_bytes(sizes);
  report.recomputed = impl_->executable->recomputed(sizes);
  return report;
}

const std::vector<ir::PassRecord>& Program::passes() const { return impl_->passes; }
const backends::Report& Program::report() const { return impl_->executable->report(); }

}  // namespace tightloop
