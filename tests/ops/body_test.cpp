// SPDX-License-Identifier: Apache-2.0
// The f32 bodies of the functions of real numbers, against the C library in double.
#include <tightloop/base/random.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <tests/ops/lanes_builder.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tightloop {
namespace {

using testing::LanesBuilder;

struct Function {
  const char* op;
  double (*exact)(double);
  double ulps;
  double known_below = INFINITY;  ///< NaN from there on
};

double ulp(float x) {
  const float size = std::fabs(x);
  if (!std::isfinite(size)) return 1;
  return static_cast<double>(std::nextafter(size, INFINITY)) - static_cast<double>(size);
}

/// Distance in units of the last place of the wanted f32; values that round to the same f32 are equal.
double distance(float got, double exact) {
  const auto want = static_cast<float>(exact);
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : INFINITY;
  if (std::isinf(want))
    return got == want ? 0 : std::fabs(got) >= std::numeric_limits<float>::max() ? 1 : INFINITY;
  if (got == want)
    return std::signbit(got) == std::signbit(want) || got != 0 ? std::fabs(got - exact) / ulp(want)
                                                               : INFINITY;
  return std::fabs(static_cast<double>(got) - exact) / ulp(want);
}

std::vector<float> run(const ir::OpDef& op, const std::vector<std::vector<float>>& inputs) {
  const auto n = static_cast<std::int64_t>(inputs[0].size());
  LanesBuilder b(n);
  std::vector<ir::Scalar> scalars;
  std::vector<Tensor> leaves;
  for (const auto& x : inputs) {
    const Array a = Array::of<float>({n}, std::span<const float>(x));
    scalars.push_back(b.input(a));
    leaves.emplace_back(a);
  }
  const Tensor node = ir::make_node(op, leaves);
  Array out(DType::f32, {n});
  b.read(op.body(b, scalars, node.node()), out);
  return {out.as<float>().begin(), out.as<float>().end()};
}

/// Every `stride`-th f32 bit pattern. TIGHTLOOP_SWEEP=53 in the environment takes a finer stride and prints
/// the worst.
std::vector<std::vector<float>> sweep(std::uint64_t stride) {
  std::vector<std::vector<float>> blocks(1);
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    if (blocks.back().size() == 4096) blocks.emplace_back();
    blocks.back().push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const float x :
       {0.f,       -0.f,       1.f,         -1.f,       INFINITY,    -INFINITY,   NAN,
        0x1p-149f, -0x1p-149f, 0x1p-126f,   88.72f,     88.73f,      -103.9f,     -104.f,
        3.4e38f,   -3.4e38f,   0.99999994f, 1.0000001f, 0.70710677f, 0.70710683f, -0.99999994f})
    blocks.back().push_back(x);
  return blocks;
}

class Body : public ::testing::TestWithParam<Function> {};

TEST_P(Body, IsNearTheExactValueForAllFloats) {
  const Function& f = GetParam();
  const ir::OpDef& op = *ops::find_op(f.op);
  double worst = 0;
  float at = 0;
  const char* all = std::getenv("TIGHTLOOP_SWEEP");
  for (const auto& block : sweep(all == nullptr ? 9973 : std::stoull(all))) {
    const auto got = run(op, {block});
    for (std::size_t i = 0; i < block.size(); ++i) {
      const bool known = std::fabs(block[i]) < f.known_below || f.known_below == INFINITY;
      const double d = distance(got[i], known ? f.exact(block[i]) : NAN);
      if (d > worst) worst = d, at = block[i];
    }
  }
  if (all != nullptr) std::printf("%s: %.3f ulp at %.9g\n", f.op, worst, static_cast<double>(at));
  EXPECT_LE(worst, f.ulps) << f.op << "(" << at << ") = " << run(op, {{at}})[0] << ", wanted " << f.exact(at);
}

INSTANTIATE_TEST_SUITE_P(
    Ops, Body,
    ::testing::Values(Function{"exp", std::exp, 1}, Function{"expm1", std::expm1, 1.5},
                      Function{"log", std::log, 1}, Function{"log1p", std::log1p, 1.5},
                      Function{"sin", std::sin, 1.6, 0x1p48}, Function{"cos", std::cos, 1.6, 0x1p48},
                      Function{"tan", std::tan, 3, 0x1p48}, Function{"atan", std::atan, 1.4},
                      Function{"sinh", std::sinh, 1.6}, Function{"cosh", std::cosh, 1.4},
                      Function{"tanh", std::tanh, 5.5}, Function{"erf", std::erf, 1.5},
                      Function{"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, 2.4},
                      Function{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5},
                      Function{"sqrt", std::sqrt, 0.51}),
    [](const auto& info) { return std::string(info.param.op); });

/// Every pair of special values, and many others over all magnitudes.
std::vector<std::vector<float>> pairs() {
  const float special[] = {0.F,    -0.F,   1,       -1,       2,         -2,       3,
                           -3,     0.5F,   -0.5F,   INFINITY, -INFINITY, NAN,      1e30F,
                           -1e30F, 1e-40F, -1e-40F, 127,      -149,      16777215, 0.99999994F};
  std::vector<std::vector<float>> out(2);
  for (const float a : special)
    for (const float b : special) out[0].push_back(a), out[1].push_back(b);
  for (std::uint64_t i = 0; i < 60000; ++i) {
    const auto words = philox_block(1, 2, 3, i);
    out[0].push_back(std::bit_cast<float>(i % 2 == 0 ? words[0] & 0x7fffffffU : words[0]));
    out[1].push_back(i % 3 == 0 ? uniform_f32(words[1]) * 100 - 50 : std::bit_cast<float>(words[1]));
  }
  return out;
}

void expect_near_all(const char* op, double (*exact)(double, double), double ulps) {
  const auto in = pairs();
  const auto got = run(*ops::find_op(op), in);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = exact(in[0][i], in[1][i]), d = distance(got[i], want);
    ASSERT_LE(d, ulps) << op << "(" << in[0][i] << ", " << in[1][i] << ") = " << got[i] << ", wanted "
                       << want;
    worst = std::max(worst, d);
  }
  if (std::getenv("TIGHTLOOP_SWEEP") != nullptr) std::printf("%s: %.3f ulp\n", op, worst);
}

TEST(BinaryBody, IsNearTheExactValue) {
  expect_near_all("pow", std::pow, 0.6);
  expect_near_all("atan2", std::atan2, 1.3);
}

}  // namespace
}  // namespace tightloop
