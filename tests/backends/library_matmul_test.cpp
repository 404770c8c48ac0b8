// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <omp.h>
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/runtime/team.h>
#include <tightloop/base/half.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace tightloop::backends::cpu;

namespace {

std::vector<float> numbers(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<std::int32_t>(state >> 8) - (1 << 23)) / (1 << 23);
  }
  return values;
}

struct Operands {
  explicit Operands(const LibraryMatmul& s)
      : a(numbers(s.batch * (s.transpose_a ? s.k : s.m) * s.lead_a + 1, 1)),
        b(numbers(s.batch * (s.transpose_b ? s.n : s.k) * s.lead_b + 1, 2)),
        c(s.batch * s.m * s.lead_c + 1, kUntouched) {}

  static constexpr float kUntouched = 12345.0f;
  std::vector<float> a, b, c;
};

LibraryMatmul padded(LibraryMatmul s, std::int64_t padding) {
  s.lead_a += padding, s.lead_b += padding, s.lead_c += padding;
  s.stride_a = (s.transpose_a ? s.k : s.m) * s.lead_a;
  s.stride_b = (s.transpose_b ? s.n : s.k) * s.lead_b;
  s.stride_c = s.m * s.lead_c;
  return s;
}

void expect_product(const LibraryMatmul& s, const Operands& o) {
  std::vector<float> expected(o.c.size(), Operands::kUntouched);
  double worst = 0;
  for (std::int64_t i = 0; i < s.batch; ++i)
    for (std::int64_t r = 0; r < s.m; ++r)
      for (std::int64_t q = 0; q < s.n; ++q) {
        double sum = 0, size = 1e-30;
        for (std::int64_t k = 0; k < s.k; ++k) {
          const double x = o.a[i * s.stride_a + (s.transpose_a ? k * s.lead_a + r : r * s.lead_a + k)];
          const double y = o.b[i * s.stride_b + (s.transpose_b ? q * s.lead_b + k : k * s.lead_b + q)];
          sum += x * y, size += std::abs(x * y);
        }
        const std::int64_t at = i * s.stride_c + r * s.lead_c + q;
        worst = std::max(worst, std::abs(o.c[at] - sum) / size);
        expected[at] = o.c[at];
      }
  EXPECT_LT(worst, 1e-5) << s.m << 'x' << s.n << 'x' << s.k << ' ' << s.transpose_a << s.transpose_b;
  EXPECT_EQ(o.c, expected) << "written outside of C";
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const std::vector<LibraryMatmul> kShapes = [] {
  std::vector<LibraryMatmul> shapes;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                            {1, 257, 17},
                                                                            {3, 17, 257},
                                                                            {128, 10, 64},
                                                                            {257, 3, 5},
                                                                            {130, 257, 40},
                                                                            {64, 64, 1}})
        shapes.push_back(dense_matmul(m, n, k, ta, tb));
  return shapes;
}();

TEST(LibraryMatmul, IsTheProduct) {
  for (const auto& shape : kShapes) {
    Operands o(shape);
    library_matmul(shape, o.a.data(), o.b.data(), o.c.data());
    expect_product(shape, o);
  }
}

// bf16 runs on few processors; the same code multiplies f32.
TEST(LibraryMatmul, ByPrimitivesIsTheProductToo) {
  for (auto shape : kShapes) {
    shape.batch = 2;
    shape = padded(shape, 3);
    for (const std::int64_t parts : {1, 3}) {
      Operands o(shape);
      for (std::int64_t part = 0; part < parts; ++part)
        library_low_matmul_part(shape, tightloop::DType::f32, o.a.data(), o.b.data(), o.c.data(), part,
                                parts);
      expect_product(shape, o);
    }
  }
}

TEST(LibraryMatmul, ByPrimitivesReadsBf16WhereTheProcessorDoes) {
  if (!library_computes(tightloop::DType::bf16)) GTEST_SKIP() << "no AVX512-BF16";
  for (const auto& shape : kShapes) {
    Operands o(shape);
    const auto halves = [](std::vector<float>& values) {
      std::vector<std::uint16_t> out;
      for (float& v : values) {
        out.push_back(tightloop::to_bf16(v));
        v = tightloop::from_bf16(out.back());
      }
      return out;
    };
    const auto a = halves(o.a), b = halves(o.b);
    library_low_matmul_part(shape, tightloop::DType::bf16, a.data(), b.data(), o.c.data(), 0, 1);
    expect_product(shape, o);
  }
}

TEST(LibraryMatmul, LeadingDimensionsAndBatches) {
  for (auto shape : kShapes) {
    shape.batch = 3;
    shape = padded(shape, 5);
    Operands o(shape);
    library_matmul(shape, o.a.data(), o.b.data(), o.c.data());
    expect_product(shape, o);
  }
}

TEST(LibraryMatmul, OneMatrixForAllOfABatch) {
  LibraryMatmul shape = dense_matmul(5, 7, 9, false, true, 4);
  shape.stride_b = 0;
  Operands o(shape);
  library_matmul(shape, o.a.data(), o.b.data(), o.c.data());
  expect_product(shape, o);
}

TEST(LibraryMatmul, WithoutASumItIsZero) {
  const LibraryMatmul shape = dense_matmul(3, 4, 0);
  std::vector<float> c(12, 1.0f);
  library_matmul(shape, c.data(), c.data(), c.data());
  EXPECT_EQ(c, std::vector<float>(12, 0.0f));
  library_matmul(dense_matmul(0, 4, 3), nullptr, nullptr, nullptr);
  library_matmul(dense_matmul(3, 0, 3), nullptr, nullptr, nullptr);
}

TEST(LibraryMatmul, NanAndInfinityComeThrough) {
  const LibraryMatmul shape = dense_matmul(2, 2, 2);
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> a{infinity, 0, 1, 2}, b{0, 1, std::nanf(""), 1};
  std::vector<float> c(4);
  library_matmul(shape, a.data(), b.data(), c.data());
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], infinity);
  EXPECT_TRUE(std::isnan(c[2]));
  EXPECT_EQ(c[3], 3.0f);
}

TEST(LibraryMatmul, PartsGiveTheBitsOfTheWhole) {
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {128, 256, 784}, {784, 256, 128}, {300, 1000, 33}, {7, 5, 3}}) {
    const LibraryMatmul shape = dense_matmul(m, n, k, false, true, 2);
    Operands whole(shape);
    library_matmul(shape, whole.a.data(), whole.b.data(), whole.c.data());
    for (const int parts : {2, 3, 7, 64}) {
      Operands o(shape);
      for (int part = parts - 1; part >= 0; --part)
        library_matmul_part(shape, o.a.data(), o.b.data(), o.c.data(), part, parts);
      EXPECT_TRUE(same_bits(o.c, whole.c)) << m << 'x' << n << 'x' << k << " in " << parts << " parts";
    }
  }
}

TEST(LibraryMatmul, TheNumberOfThreadsDoesNotShow) {
  const LibraryMatmul shape = dense_matmul(500, 600, 200);
  EXPECT_GE(library_matmul_blocks(shape), 16);
  Operands whole(shape);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  library_matmul(shape, whole.a.data(), whole.b.data(), whole.c.data());
  for (const int threads : {1, 2, 4}) {
    omp_set_num_threads(threads);
    Operands alone(shape), shared(shape);
    library_matmul(shape, alone.a.data(), alone.b.data(), alone.c.data());
    EXPECT_EQ(omp_get_max_threads(), threads);
    EXPECT_TRUE(same_bits(alone.c, whole.c));
    Team team;
    auto body = [&](int thread, int given) {
      library_matmul_part(shape, shared.a.data(), shared.b.data(), shared.c.data(), thread, given);
    };
    team.run(threads, body);
    EXPECT_TRUE(same_bits(shared.c, whole.c)) << threads;
  }
  omp_set_num_threads(before);
}

}  // namespace
