// SPDX-License-Identifier: Apache-2.0
// Denormal floats in compiled steps, on every thread of the team.
#include <tests/support/compare.h>
#include <tightloop/ops/functions.h>

namespace tightloop {
namespace {

/// a · b with a = 1e-30 and b = 1e-10 everywhere, and a matrix product of such numbers: 1e-40 is denormal.
std::vector<Array> products(bool flush, int threads) {
  constexpr std::int64_t kSide = 256;
  const TensorType type{DType::f32, Shape{kSide, kSide}};
  const Tensor a = input("a", "argument", type), b = input("b", "argument", type);
  ir::Graph graph;
  graph.inputs = {a, b};
  graph.outputs = {{"product", a * b}, {"matmul", matmul(a, b)}};
  backends::cpu::CpuOptions options;
  options.disk_cache = false;
  options.threads = threads;
  options.exact_threads = true;
  options.flush_denormals = flush;
  const auto executable = backends::cpu::compile_cpu(graph, options);
  Array left(DType::f32, {kSide, kSide}), right = left.clone();
  for (std::int64_t i = 0; i < left.count(); ++i) left.set(i, 1e-30), right.set(i, 1e-10);
  std::vector<Array> out{left.clone(), left.clone()};
  backends::RunArgs args;
  args.inputs = {left.bytes(), right.bytes()};
  args.outputs = {out[0].bytes(), out[1].bytes()};
  args.sampling = {.rows = 1, .batch = 1};
  executable->run(args);
  return out;
}

TEST(Denormals, AreFlushedOnEveryThread) {
#if defined(__x86_64__) || defined(__aarch64__)
  for (const int threads : {1, 2, 3})
    for (const Array& out : products(true, threads))
      for (std::int64_t i = 0; i < out.count(); ++i) ASSERT_EQ(out.at(i), 0) << threads << " threads, " << i;
#endif
}

TEST(Denormals, AreKeptOnEveryThread) {
  for (const int threads : {1, 2, 3}) {
    const auto out = products(false, threads);
    for (std::int64_t i = 0; i < out[0].count(); ++i) {
      ASSERT_NEAR(out[0].at(i), 1e-40, 1e-44) << threads << " threads, " << i;
      ASSERT_NEAR(out[1].at(i), 256e-40, 1e-41) << threads << " threads, " << i;
    }
  }
}

}  // namespace
}  // namespace tightloop
