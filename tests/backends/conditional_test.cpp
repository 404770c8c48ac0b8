// SPDX-License-Identifier: Apache-2.0
// States that change in some steps only: what is left out in the others, and that nothing else differs.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/conditional.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/ops/functions.h>

#include <sys/mman.h>
#include <cstring>

namespace tightloop {
namespace {

constexpr std::int64_t kSide = 96;

Tensor matrix(const char* name, const char* role = "state") {
  return input(name, role, {DType::f32, Shape{kSide, kSide}});
}

/// Every third step w moves by the sum of what came, along a product that only it needs; m is its momentum.
struct Accumulating {
  ir::Graph graph;
  Tensor ends;

  explicit Accumulating(bool chosen = true) {
    const Tensor step = input("step", "step", {DType::i64, {}}), g = matrix("g", "data");
    const Tensor w = matrix("w"), m = matrix("m"), sum_before = matrix("sum");
    const Tensor count = input("count", "state", {DType::f64, {}});
    ends = remainder(step, scalar(3, DType::i64)) == 2.0;
    const Tensor sum = select(count == 0.0, scalar(0), sum_before) + g * w;
    const Tensor turned = matmul(sum, transpose(sum, 0, 1)) * 1e-3;
    const Tensor next = 0.9 * m + turned + tightloop::sum(square(sum)) * 1e-6;
    const auto kept = [&](const Tensor& a, const Tensor& b) { return chosen ? select(ends, a, b) : a; };
    graph.inputs = {step, g, w, m, sum_before, count};
    graph.outputs = {{"sum", sum},
                     {"count", select(ends, scalar(0, DType::f64), count + 1.0)},
                     {"m", kept(next, m)},
                     {"w", kept(w - 0.01 * next, w)},
                     {"mean", mean(sum)}};
  }
};

std::vector<Array> values() {
  const std::vector<std::int64_t> dims{kSide, kSide};
  return {Array(DType::i64, {}),
          testing::random_array(DType::f32, dims, -1, 1, 1),
          testing::random_array(DType::f32, dims, -1, 1, 2),
          testing::random_array(DType::f32, dims, -1, 1, 3),
          testing::random_array(DType::f32, dims, -1, 1, 4),
          Array::scalar<double>(0)};
}

TEST(Conditional, FindsWhatOnlySuchStatesRead) {
  const Accumulating a;
  const backends::cpu::Conditions found = backends::cpu::find_conditions(a.graph);
  const auto at = [&](const char* name) { return found.at(a.graph.output(name)->value.id()); };
  EXPECT_EQ(at("w"), a.ends.id());
  EXPECT_EQ(at("m"), a.ends.id());
  EXPECT_EQ(at("sum"), nullptr);
  EXPECT_EQ(at("count"), nullptr) << "too small to be worth it";
  const Tensor& next = a.graph.output("m")->value.node().inputs[1];
  EXPECT_EQ(found.at(next.id()), a.ends.id());
  EXPECT_TRUE(found.deciding.contains(a.ends.id()));
  EXPECT_TRUE(backends::cpu::find_conditions(Accumulating(false).graph).of.empty());
}

TEST(Conditional, KernelsAreNotMixed) {
  const Accumulating a;
  const backends::cpu::Plan plan = backends::cpu::make_plan(backends::cpu::prepare(a.graph));
  int conditional = 0;
  for (std::size_t k = 0; k < plan.schedule.kernels.size(); ++k) {
    const auto& kernel = plan.schedule.kernels[k];
    if (kernel.only_if == nullptr) continue;
    ++conditional;
    EXPECT_GT(plan.schedule.phase_of(static_cast<int>(k)),
              plan.schedule.phase_of(plan.schedule.home.at(kernel.only_if)));
    for (const auto& o : plan.graph.outputs)
      EXPECT_TRUE((o.name != "sum" && o.name != "mean") ||
                  plan.schedule.home.at(o.value.id()) != static_cast<int>(k))
          << o.name;
  }
  EXPECT_GE(conditional, 2) << "the product, and what moves w and m";
}

/// Steps of the compiled graph are those of the interpreter, bit for bit of each other with any threads.
TEST(Conditional, TheSameNumbersAsTheInterpreter) {
  const Accumulating a;
  std::vector<std::vector<Array>> ends;
  for (const int threads : {0, 1, 3}) {
    std::vector<Array> now = values();
    testing::Compiled compiled(a.graph, std::max(threads, 1));
    for (std::int64_t step = 0; step < 7; ++step) {
      std::vector<Array> out;
      if (threads == 0) {
        backends::InterpretOptions options;
        options.step = step;
        out = backends::interpret(a.graph, now, options);
      } else {
        out = compiled.run(now, {1, 1}, step, 0);
      }
      now[4] = out[0].clone(), now[5] = out[1].clone(), now[3] = out[2].clone(), now[2] = out[3].clone();
    }
    ends.push_back(now);
  }
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_TRUE(identical(ends[1][i], ends[2][i])) << i;
    for (std::int64_t k = 0; k < ends[0][i].count(); ++k)
      ASSERT_NEAR(ends[0][i].at(k), ends[1][i].at(k), 2e-4 * (1 + std::abs(ends[0][i].at(k))))
          << i << " " << k;
  }
}

/// A page that nobody may write.
class Sealed {
 public:
  explicit Sealed(const Array& from) : bytes_(from.size_bytes()) {
    at_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(at_, from.bytes(), bytes_);
    mprotect(at_, bytes_, PROT_READ);
  }
  Sealed(const Sealed&) = delete;
  Sealed& operator=(const Sealed&) = delete;
  ~Sealed() { munmap(at_, bytes_); }
  void* at() const { return at_; }
  void open() { mprotect(at_, bytes_, PROT_READ | PROT_WRITE); }

 private:
  void* at_;
  std::size_t bytes_;
};

TEST(Conditional, NothingIsWrittenInTheOtherSteps) {
  const Accumulating a;
  for (const int threads : {1, 2}) {
    backends::cpu::CpuOptions options;
    options.disk_cache = false;
    options.threads = threads;
    options.exact_threads = true;
    const auto executable = backends::cpu::compile_cpu(a.graph, options);
    std::vector<Array> inputs = values();
    const std::vector<Array> before = values();
    Sealed w(inputs[2]), m(inputs[3]);
    float mean = 0;
    backends::RunArgs args;
    for (Array& x : inputs) args.inputs.push_back(x.bytes());
    args.inputs[2] = w.at(), args.inputs[3] = m.at();
    args.outputs = {nullptr, nullptr, nullptr, nullptr, &mean};
    args.sampling = {.rows = 1, .batch = 1};
    args.steps = 2;
    executable->run(args);  // steps 0 and 1: a write to w or m would end the process
    EXPECT_EQ(std::memcmp(w.at(), before[2].bytes(), before[2].size_bytes()), 0);
    w.open(), m.open();
    args.first_step = 2, args.steps = 1;
    executable->run(args);
    EXPECT_NE(std::memcmp(w.at(), before[2].bytes(), before[2].size_bytes()), 0);
  }
}

}  // namespace
}  // namespace tightloop
