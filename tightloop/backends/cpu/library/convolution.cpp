// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/convolution.h>
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/library/one_thread.h>
#include <tightloop/backends/cpu/windows/widest.h>
#include <tightloop/base/error.h>
#include <tightloop/base/half.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>

namespace tightloop::backends::cpu {
namespace {

using Direction = ConvolutionDirection;
using dnnl::memory;

/// A batch is cut into this many stretches, but none with fewer products than pay for a call.
constexpr std::int64_t kStretches = 16;
constexpr std::int64_t kLeastProducts = std::int64_t{1} << 22;
constexpr std::size_t kAlignment = 64;

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// Dims and places of one convolution as the library wants them.
struct Geometry {
  memory::dims x, w, y, stride, low, high, dilation;

  Geometry(const ops::ConvolutionShape& s, std::int64_t samples)
      : x{samples, s.in}, w{s.out_a_group(), s.in_a_group()}, y{samples, s.out} {
    if (s.groups > 1) w.insert(w.begin(), s.groups);
    for (std::size_t i = 3 - s.spatial; i < 3; ++i) {
      const ops::WindowDim& d = s.dims[i];
      x.push_back(d.in);
      y.push_back(d.out);
      w.push_back(d.size);
      stride.push_back(d.stride);
      low.push_back(d.low);
      // As much as the last window reaches into.
      const std::int64_t end = (d.out - 1) * d.stride + (d.size - 1) * d.dilation + 1;
      high.push_back(std::max<std::int64_t>(0, end - d.in - d.low));
      dilation.push_back(d.dilation - 1);
    }
  }
};

using Type = memory::data_type;

memory::desc dense(const memory::dims& dims, Type type = Type::f32) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, type, strides};
}

memory::desc any(const memory::dims& dims, Type type = Type::f32) {
  return {dims, type, memory::format_tag::any};
}

dnnl::primitive_attr own_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// The convolution of a direction with any layouts, its inputs being of type `in`.
dnnl::primitive_desc_base descriptor_of(const Geometry& g, Direction direction, Type in) {
  using dnnl::algorithm;
  const auto of = [&](Direction result) { return direction == result ? Type::f32 : in; };
  const auto x = any(g.x, of(Direction::input_grad)), w = any(g.w, of(Direction::weight_grad)),
             y = any(g.y, of(Direction::forward));
  const dnnl::convolution_forward::desc forward(dnnl::prop_kind::forward_training,
                                                algorithm::convolution_direct, any(g.x, in), any(g.w, in), y,
                                                g.stride, g.dilation, g.low, g.high);
  const dnnl::convolution_forward::primitive_desc hint(forward, own_scratch(), engine());
  if (direction == Direction::forward) return hint;
  if (direction == Direction::input_grad)
    return dnnl::convolution_backward_data::primitive_desc(
        {algorithm::convolution_direct, x, w, y, g.stride, g.dilation, g.low, g.high}, own_scratch(),
        engine(), hint);
  return dnnl::convolution_backward_weights::primitive_desc(
      {algorithm::convolution_direct, x, w, y, g.stride, g.dilation, g.low, g.high}, own_scratch(), engine(),
      hint);
}

dnnl::primitive primitive_of(const dnnl::primitive_desc_base& descriptor) {
  return dnnl::primitive(descriptor.get());
}

/// One of the three arrays of a convolution: how it lies outside and how the library wants it.
struct Operand {
  memory::desc outside, inside;
  dnnl::primitive reorder = {};  ///< from one to the other; empty when they agree
  std::size_t offset = 0;        ///< of the inside in the scratch memory
  std::size_t wide = 0;          ///< of what is widened there before
  bool moves() const { return outside != inside; }
};

/// The convolution of a number of samples.
struct Stage {
  std::int64_t samples = 0;
  std::array<Operand, 3> operands;  ///< first input, second input, result
  std::array<int, 3> names{};       ///< oneDNN's argument numbers
  memory::desc scratchpad;
  std::size_t scratchpad_offset = 0;
  std::size_t bytes = 0;
  dnnl::primitive primitive;

  /// `in`: the type of the inputs, which are bf16 or f32; `widened`: which of them a caller widens to f32.
  Stage(const ops::ConvolutionShape& shape, Direction direction, std::int64_t n, Type in,
        std::array<bool, 2> widened)
      : samples(n) {
    const Geometry g(shape, n);
    const dnnl::primitive_desc_base d = descriptor_of(g, direction, in);
    using dnnl::query;
    switch (direction) {
      case Direction::forward:
        operands = {Operand{dense(g.x, in), d.query_md(query::src_md)},
                    {dense(g.w, in), d.query_md(query::weights_md)},
                    {dense(g.y), d.query_md(query::dst_md)}};
        names = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
        break;
      case Direction::input_grad:
        operands = {Operand{dense(g.y, in), d.query_md(query::diff_dst_md)},
                    {dense(g.w, in), d.query_md(query::weights_md)},
                    {dense(g.x), d.query_md(query::diff_src_md)}};
        names = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC};
        break;
      case Direction::weight_grad:
        operands = {Operand{dense(g.x, in), d.query_md(query::src_md)},
                    {dense(g.y, in), d.query_md(query::diff_dst_md)},
                    {dense(g.w), d.query_md(query::diff_weights_md)}};
        names = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};
        break;
    }
    primitive = primitive_of(d);
    for (std::size_t i = 0; i < 3; ++i) place(operands[i], i == 2);
    for (std::size_t i = 0; i < 2; ++i)
      if (widened[i]) {
        operands[i].wide = bytes;
        bytes += rounded(operands[i].outside.get_size());
      }
    scratchpad = d.query_md(query::scratchpad_md);
    scratchpad_offset = bytes;
    bytes += rounded(scratchpad.get_size());
  }

 private:
  void place(Operand& o, bool result) {
    if (!o.moves()) return;
    o.offset = bytes;
    bytes += rounded(o.inside.get_size());
    const memory::desc &from = result ? o.inside : o.outside, &to = result ? o.outside : o.inside;
    o.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }
};

/// What one thread needs to run a stage.
struct Bound {
  std::array<memory, 3> outside, inside;
  memory scratchpad;

  Bound(const Stage& stage, std::byte* scratch) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Operand& o = stage.operands[i];
      outside[i] = memory(o.outside, engine(), nullptr);
      inside[i] = o.moves() ? memory(o.inside, engine(), scratch + o.offset) : outside[i];
    }
    scratchpad = memory(stage.scratchpad, engine(), scratch + stage.scratchpad_offset);
  }
};

void check(dnnl_status_t status) { require(status == dnnl_success, "oneDNN's convolution failed"); }

void point(const memory& m, const void* at) {
  check(dnnl_memory_set_data_handle(m.get(), const_cast<void*>(at)));
}

template <DType type>
struct Widen {
  [[gnu::always_inline]] static void run(const std::uint16_t* from, float* to, std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = type == DType::bf16 ? from_bf16(from[i]) : from_f16(from[i]);
  }
};

void widen(DType type, const void* from, float* to, std::int64_t count) {
  const auto* low = static_cast<const std::uint16_t*>(from);
  if (type == DType::bf16)
    widest<Widen<DType::bf16>>(low, to, count);
  else
    widest<Widen<DType::f16>>(low, to, count);
}

struct Thread {
  dnnl::stream stream;
  std::vector<Bound> stages;
  std::byte* scratch;
};

}  // namespace

struct LibraryConvolution::State {
  ops::ConvolutionShape shape;
  Direction direction;
  std::int64_t pieces;
  std::array<DType, 2> stored;
  bool fits = true;
  bool attached = false;
  std::vector<Stage> stages = {};
  std::vector<Thread> threads = {};

  /// The library itself computes in bf16.
  bool in_bf16() const {
    return stored[0] == DType::bf16 && stored[1] == DType::bf16 && library_computes(DType::bf16);
  }
  bool is_widened(std::size_t input) const { return stored[input] != DType::f32 && !in_bf16(); }

  /// Shows the stage where the elements of an input lie, from `first` on.
  void point_to(const Thread& thread, std::size_t stage, std::size_t input, const void* all,
                std::int64_t first, std::int64_t count) const {
    const auto* from = static_cast<const std::byte*>(all) +
                       first * static_cast<std::int64_t>(tightloop::size_of(stored[input]));
    const void* at = from;
    if (is_widened(input)) {
      auto* wide = reinterpret_cast<float*>(thread.scratch + stages[stage].operands[input].wide);
      widen(stored[input], from, wide, count);
      at = wide;
    }
    point(thread.stages[stage].outside[input], at);
  }

  std::int64_t stretch(std::int64_t batch) const {
    if (direction == Direction::weight_grad) return (batch + pieces - 1) / pieces;
    const std::int64_t share = (batch + kStretches - 1) / kStretches;
    return std::clamp<std::int64_t>((kLeastProducts + shape.products() - 1) / shape.products(), share,
                                    std::max(share, batch));
  }

  /// Elements of a sample, or of a weight.
  std::int64_t size_of(std::size_t operand) const {
    const std::int64_t x = shape.in * inputs_of(shape.dims), y = shape.out * outputs_of(shape.dims);
    if (operand == 0) return direction == Direction::input_grad ? y : x;
    if (operand == 1) return direction == Direction::weight_grad ? y : shape.weights();
    return direction == Direction::forward ? y : direction == Direction::input_grad ? x : shape.weights();
  }

  std::size_t stage_of(std::int64_t samples) const {
    std::size_t i = 0;
    while (i < stages.size() && stages[i].samples != samples) ++i;
    return i;
  }

  void reorder(const Thread& thread, std::size_t stage, std::size_t operand) const {
    const Operand& o = stages[stage].operands[operand];
    if (!o.moves()) return;
    const Bound& b = thread.stages[stage];
    const memory &from = operand == 2 ? b.inside[2] : b.outside[operand],
                 &to = operand == 2 ? b.outside[2] : b.inside[operand];
    const std::array<dnnl_exec_arg_t, 2> arguments{{{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}}};
    check(dnnl_primitive_execute(o.reorder.get(), thread.stream.get(), 2, arguments.data()));
  }

  void execute(const Thread& thread, std::size_t stage) const {
    const Stage& s = stages[stage];
    const Bound& b = thread.stages[stage];
    const std::array<dnnl_exec_arg_t, 4> arguments{{{s.names[0], b.inside[0].get()},
                                                    {s.names[1], b.inside[1].get()},
                                                    {s.names[2], b.inside[2].get()},
                                                    {DNNL_ARG_SCRATCHPAD, b.scratchpad.get()}}};
    check(dnnl_primitive_execute(s.primitive.get(), thread.stream.get(), 4, arguments.data()));
  }
};

LibraryConvolution::LibraryConvolution(const ops::ConvolutionShape& shape, ConvolutionDirection direction,
                                       std::int64_t pieces, std::array<DType, 2> stored)
    : state_(std::make_unique<State>(State{shape, direction, pieces, stored})) {}
LibraryConvolution::~LibraryConvolution() = default;
LibraryConvolution::LibraryConvolution(LibraryConvolution&&) noexcept = default;

bool LibraryConvolution::reads_low() const { return state_->stored != std::array{DType::f32, DType::f32}; }

std::int64_t LibraryConvolution::items(std::int64_t batch) const {
  if (state_->direction == Direction::weight_grad) return state_->pieces;
  const std::int64_t n = state_->stretch(batch);
  return n == 0 ? 0 : (batch + n - 1) / n;
}

std::size_t LibraryConvolution::expected_scratch(std::int64_t batch) const {
  const std::int64_t n = state_->stretch(batch);
  std::int64_t elements = 0;
  const std::size_t weights = state_->direction == Direction::weight_grad ? 2 : 1;
  for (std::size_t i = 0; i < 3; ++i)
    elements += state_->size_of(i) * (i == weights ? 1 : n) * (i < 2 && state_->is_widened(i) ? 2 : 1);
  return static_cast<std::size_t>(elements) * sizeof(float);
}

bool LibraryConvolution::prepare(std::int64_t batch) {
  State& s = *state_;
  const std::int64_t n = s.stretch(batch);
  const OneThread alone;
  for (const std::int64_t samples : {n, n == 0 ? 0 : batch % n}) {
    if (samples == 0 || !s.fits || s.stage_of(samples) < s.stages.size()) continue;
    try {
      s.stages.emplace_back(s.shape, s.direction, samples, s.in_bf16() ? Type::bf16 : Type::f32,
                            std::array{s.is_widened(0), s.is_widened(1)});
      s.attached = false;
    } catch (const dnnl::error&) {
      s.fits = false;
    }
  }
  return s.fits;
}

std::size_t LibraryConvolution::scratch_bytes() const {
  std::size_t most = 0;
  for (const Stage& stage : state_->stages) most = std::max(most, stage.bytes);
  return most;
}

void LibraryConvolution::attach(std::span<std::byte* const> scratch) {
  State& s = *state_;
  const OneThread alone;
  s.threads.clear();
  for (std::byte* memory : scratch) {
    s.threads.push_back({dnnl::stream(engine()), {}, memory});
    for (const Stage& stage : s.stages) s.threads.back().stages.emplace_back(stage, memory);
  }
  s.attached = true;
}

bool LibraryConvolution::attached(std::size_t threads) const {
  return state_->attached && state_->threads.size() == threads;
}

void LibraryConvolution::run(std::int64_t batch, const void* a, const void* b, float* out, std::int64_t part,
                             std::int64_t parts, std::size_t thread) const {
  const State& s = *state_;
  const OneThread alone;
  const bool weights_last = s.direction == Direction::weight_grad;
  const std::int64_t all = items(batch), rows = s.stretch(batch), end = all * (part + 1) / parts;
  std::size_t ready = s.stages.size();  // the stage whose weights are in its layout
  for (std::int64_t i = all * part / parts; i < end; ++i) {
    const std::int64_t first = i * rows, samples = std::min(rows, batch - first);
    float* result = out + (weights_last ? i * s.shape.weights() : first * s.size_of(2));
    if (samples <= 0) {
      std::fill_n(result, s.shape.weights(), 0.0f);
      continue;
    }
    const std::size_t stage = s.stage_of(samples);
    require(stage < s.stages.size() && thread < s.threads.size(),
            "a convolution was not prepared for its batch");
    const Thread& own = s.threads[thread];
    s.point_to(own, stage, 0, a, first * s.size_of(0), samples * s.size_of(0));
    point(own.stages[stage].outside[2], result);
    s.reorder(own, stage, 0);
    if (weights_last) {
      s.point_to(own, stage, 1, b, first * s.size_of(1), samples * s.size_of(1));
      s.reorder(own, stage, 1);
    } else if (stage != ready) {
      s.point_to(own, stage, 1, b, 0, s.size_of(1));
      s.reorder(own, stage, 1);
    }
    ready = stage;
    s.execute(own, stage);
    s.reorder(own, stage, 2);
  }
}

}  // namespace tightloop::backends::cpu
