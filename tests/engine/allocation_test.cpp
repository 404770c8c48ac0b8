// SPDX-License-Identifier: Apache-2.0
// Nothing is allocated inside run(n).
#include <gtest/gtest.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/passes/differentiate.h>

#if defined(__GLIBC__) && !defined(TIGHTLOOP_SANITIZED)

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
void note() {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) { return note(), __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { return note(), __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { return note(), __libc_realloc(p, n); }
void* aligned_alloc(std::size_t alignment, std::size_t n) { return note(), __libc_memalign(alignment, n); }
int posix_memalign(void** out, std::size_t alignment, std::size_t n) {
  note();
  *out = __libc_memalign(alignment, n);
  return *out == nullptr ? ENOMEM : 0;
}
}

namespace tightloop {
namespace {

/// A linear net with dropout, shuffled batches and gradient descent.
ir::Graph training_step() {
  const Tensor data = input("x", "data", {DType::f32, {Dim::rows(), 40}});
  const Tensor target = input("y", "data", {DType::f32, {Dim::rows(), 1}});
  const Tensor rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  const Tensor seed = input("seed", "seed", {DType::i64, {}});
  const Tensor step = input("step", "step", {DType::i64, {}});
  const Tensor hidden = input("hidden", "state", {DType::f32, {64, 40}});
  const Tensor out = input("out", "state", {DType::f32, {1, 64}});
  const Tensor x = gather(data, rows);
  const Tensor h = relu(matmul_transposed(x, hidden));
  const Tensor kept = select(random_bernoulli(h.shape(), 0.5, seed, step, 0), h, zeros(h.shape()));
  const Tensor loss = mean(square(matmul_transposed(kept, out) - gather(target, rows)));
  const auto slopes = gradients(loss, {hidden, out});
  return {"step",
          {data, target, rows, seed, step, hidden, out},
          {{"loss", loss}, {"hidden", hidden - 0.01 * slopes[0]}, {"out", out - 0.01 * slopes[1]}}};
}

/// A small convolutional net; its convolutions run as their own loops.
ir::Graph convolutional_step() {
  const Tensor data = input("x", "data", {DType::f32, {Dim::rows(), 40}});
  const Tensor target = input("y", "data", {DType::f32, {Dim::rows(), 1}});
  const Tensor rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  const Tensor kernel = input("kernel", "state", {DType::f32, {4, 1, 3, 3}});
  const Tensor image = reshape(gather(data, rows), {Dim::batch(), 1, 5, 8});
  const Tensor h = avg_pool(max_pool(convolution(image, kernel), {.kernel = 2}), {.kernel = {1, 3}});
  const Tensor loss = mean(square(sum(h, {1, 2}) - gather(target, rows)));
  return {"step",
          {data, target, rows, kernel},
          {{"loss", loss}, {"kernel", kernel - 0.01 * gradients(loss, {kernel})[0]}}};
}

class Allocation : public ::testing::TestWithParam<ir::Graph (*)()> {};

TEST_P(Allocation, NoneInsideRun) {
  for (const int threads : {1, 2}) {
    CompileOptions options;
    options.threads = threads;
    options.disk_cache = false;
    Program p = Program::compile(GetParam()(), options);
    p.bind("x", Array(DType::f32, {1000, 40}));
    p.bind("y", Array(DType::f32, {1000, 1}));
    const Sampling sampling{.rows = 1000, .batch = 128, .shuffle = true, .seed = 1};
    p.record(std::make_shared<Recorder>(std::vector<std::string>{"loss"}));
    p.run(sampling, 0, 1);
    allocations = 0;
    counting = true;
    p.run(sampling, 1, 40);
    counting = false;
    EXPECT_EQ(allocations, 0) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, Allocation, ::testing::Values(training_step, convolutional_step));

TEST(AllocationCounter, Counts) {
  counting = true;
  allocations = 0;
  const Array a(DType::f32, {100});
  const auto p = std::make_unique<double>(1);
  counting = false;
  EXPECT_GE(allocations, 2);
}

}  // namespace
}  // namespace tightloop

#endif
