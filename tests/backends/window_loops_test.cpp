// SPDX-License-Identifier: Apache-2.0
// The loops of convolutions and pooling against the ops' own meaning, for random places of the windows.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/windows/window_kernel.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

using backends::cpu::WindowKernel;
using ir::Ints;
using testing::random_array;

/// A few whole numbers, a function of the seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    const auto word = philox_block(seed_, 3, 0, next_++)[0];
    return low + static_cast<std::int64_t>(word % static_cast<std::uint32_t>(high - low + 1));
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

struct Places {
  std::int64_t batch, channels, groups;
  std::vector<Dim> in;
  Ints size, stride, low, high, dilation;

  explicit Places(Dice& roll) : batch(roll(1, 3)), channels(roll(1, 3)), groups(roll(1, 2)) {
    const std::int64_t spatial = roll(1, 3);
    for (std::int64_t d = 0; d < spatial; ++d) {
      size.push_back(roll(1, 4));
      stride.push_back(roll(1, 3));
      dilation.push_back(roll(1, 3));
      const std::int64_t extent = dilation.back() * (size.back() - 1) + 1;
      low.push_back(roll(0, extent / 2));
      high.push_back(roll(0, extent / 2));
      in.emplace_back(std::max<std::int64_t>(1, extent - low.back() - high.back()) +
                      roll(2, d + 1 == spatial ? 90 : 5));
    }
  }
  ir::Attrs attrs() const {
    return {{"stride", stride}, {"low", low}, {"high", high}, {"dilation", dilation}, {"groups", groups}};
  }
  ir::Attrs pooling() const {
    return {{"size", size}, {"stride", stride}, {"low", low}, {"high", high}, {"dilation", dilation}};
  }
  Shape planes(std::int64_t of) const {
    std::vector<Dim> dims{batch, of};
    dims.insert(dims.end(), in.begin(), in.end());
    return Shape(std::move(dims));
  }
  Shape weights() const {
    std::vector<Dim> dims{2 * groups, channels};
    for (const std::int64_t s : size) dims.emplace_back(s);
    return Shape(std::move(dims));
  }
};

Tensor argument(const std::string& name, DType dtype, const Shape& shape) {
  return input(name, "argument", {dtype, shape});
}

/// The op by its loops, in three parts, and by the interpreter.
void check(const Tensor& y, std::int64_t batch) {
  const ir::Node& n = y.node();
  ir::Graph graph{"one", n.inputs, {{"y", y}}};
  SCOPED_TRACE(ir::print(graph));
  std::vector<Array> inputs;
  for (const Tensor& t : n.inputs)
    inputs.push_back(random_array(t.dtype(), t.shape().values({}), t.dtype() == DType::i32 ? 0 : -1,
                                  t.dtype() == DType::i32 ? 9 : 1, inputs.size() + 1));
  Array got(y.dtype(), y.shape().values({}));
  for (std::int64_t i = 0; i < got.count(); ++i) got.set(i, 77);
  const WindowKernel kernel(n);
  for (std::int64_t part = 0; part < 3; ++part)
    kernel.run(batch, inputs[0].bytes(), inputs.size() > 1 ? inputs[1].bytes() : nullptr, got.bytes(), part,
               3);
  testing::expect_same(graph, {got}, backends::interpret(graph, inputs, {}), {1e-4, 1e-5});
}

TEST(WindowLoops, MeanWhatTheOpsDoForRandomPlaces) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Dice roll(seed);
    const Places p(roll);
    const DType dtype = seed % 3 == 0 ? DType::f64 : DType::f32;
    const Tensor x = argument("x", dtype, p.planes(p.channels * p.groups)),
                 w = argument("w", dtype, p.weights());
    const Tensor y = ir::make_node(ops::convolution_op(), {x, w}, p.attrs());
    const Tensor g = argument("g", dtype, y.shape());
    check(y, p.batch);
    check(ir::make_node(ops::convolution_input_grad_op(), {g, w}, p.attrs(), &x.type()), p.batch);
    check(ir::make_node(ops::convolution_weight_grad_op(), {x, g}, p.attrs(), &w.type()), p.batch);
    const Tensor largest = ir::make_node(ops::window_argmax_op(), {x}, p.pooling());
    const Tensor pooled = argument("p", dtype, largest.shape()),
                 at = argument("at", DType::i32, largest.shape());
    check(largest, p.batch);
    check(ir::make_node(ops::window_sum_op(), {x}, p.pooling()), p.batch);
    check(ir::make_node(ops::window_spread_op(), {pooled}, p.pooling(), &x.type()), p.batch);
    check(ir::make_node(ops::plane_gather_op(), {x, at}), p.batch);
    check(ir::make_node(ops::plane_scatter_op(), {at, pooled}, {}, &x.type()), p.batch);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tightloop
