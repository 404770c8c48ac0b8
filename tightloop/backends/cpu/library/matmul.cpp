// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/matmul.h>
#include <tightloop/backends/cpu/library/one_thread.h>
#include <tightloop/base/error.h>

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

// Measured: a block of 64 x 128 runs nearly as fast as the whole, one of 64 columns 15 % slower. Quarters of
// each side give 16 threads work.
constexpr std::int64_t kLeastRows = 64;
constexpr std::int64_t kLeastColumns = 128;
constexpr std::int64_t kMostSide = 512;
constexpr std::int64_t kSideMultiple = 16;
constexpr std::int64_t kCutsPerSide = 4;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t side(std::int64_t extent, std::int64_t least) {
  const auto quarter = divide_up(divide_up(extent, kCutsPerSide), kSideMultiple) * kSideMultiple;
  return std::clamp(quarter, least, kMostSide);
}

struct Grid {
  explicit Grid(const LibraryMatmul& shape)
      : rows(side(shape.m, kLeastRows)),
        columns(side(shape.n, kLeastColumns)),
        down(divide_up(shape.m, rows)),
        across(divide_up(shape.n, columns)),
        blocks(shape.batch * down * across) {}

  std::int64_t rows, columns;  // of a block
  std::int64_t down, across;   // blocks of one matrix
  std::int64_t blocks;         // in all
};

void clear(float* c, std::int64_t rows, std::int64_t columns, std::int64_t lead) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(c + r * lead, columns, 0.0f);
}

MatmulBlock block_of(const LibraryMatmul& s, const Grid& grid, std::int64_t block) {
  const std::int64_t matrix = block / (grid.down * grid.across);
  const std::int64_t row = block / grid.across % grid.down * grid.rows;
  const std::int64_t column = block % grid.across * grid.columns;
  return {std::min(grid.rows, s.m - row), std::min(grid.columns, s.n - column),
          matrix * s.stride_a + row * (s.transpose_a ? 1 : s.lead_a),
          matrix * s.stride_b + column * (s.transpose_b ? s.lead_b : 1),
          matrix * s.stride_c + row * s.lead_c + column};
}

void multiply_block(const LibraryMatmul& s, const MatmulBlock& block, const float* a, const float* b,
                    float* c) {
  if (s.k == 0) return clear(c + block.c, block.rows, block.columns, s.lead_c);
  const auto status =
      dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', block.rows, block.columns, s.k, 1.0f,
                 a + block.a, s.lead_a, b + block.b, s.lead_b, 0.0f, c + block.c, s.lead_c);
  require(status == dnnl_success, "oneDNN's sgemm failed");
}

}  // namespace

LibraryMatmul dense_matmul(std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_a, bool transpose_b,
                           std::int64_t batch) {
  return {m,     n,     k,    transpose_a ? m : k, transpose_b ? k : n, n, transpose_a, transpose_b, batch,
          m * k, k * n, m * n};
}

std::int64_t library_matmul_blocks(const LibraryMatmul& shape) { return Grid(shape).blocks; }

MatmulBlock library_matmul_block(const LibraryMatmul& shape, std::int64_t i) {
  return block_of(shape, Grid(shape), i);
}

void library_matmul_part(const LibraryMatmul& shape, const float* a, const float* b, float* c,
                         std::int64_t part, std::int64_t parts) {
  const Grid grid(shape);
  const OneThread alone;
  const std::int64_t end = grid.blocks * (part + 1) / parts;
  for (std::int64_t block = grid.blocks * part / parts; block < end; ++block)
    multiply_block(shape, block_of(shape, grid, block), a, b, c);
}

void library_matmul(const LibraryMatmul& shape, const float* a, const float* b, float* c) {
  library_matmul_part(shape, a, b, c, 0, 1);
}

}  // namespace tightloop::backends::cpu
