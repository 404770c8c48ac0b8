// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <cstdint>

namespace tightloop::backends::cpu {

/// C[i] = op(A[i]) · op(B[i]) for i in 0..batch-1, row-major: A is [M, K] ([K, M] when transposed), B is [K,
/// N]
/// ([N, K] when transposed), C is [M, N]. A leading dimension is the distance of two rows, a stride that of
/// two matrices of a batch, both in elements; a stride of 0 uses one matrix for all.
struct LibraryMatmul {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lead_a = 0, lead_b = 0, lead_c = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

/// Matrices that lie densely.
LibraryMatmul dense_matmul(std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_a = false,
                           bool transpose_b = false, std::int64_t batch = 1);

/// Into how many blocks of C the product is cut. The shape alone decides, never the number of threads.
std::int64_t library_matmul_blocks(const LibraryMatmul& shape);

/// One block of C, with the offsets of its first elements.
struct MatmulBlock {
  std::int64_t rows, columns;
  std::int64_t a, b, c;
};
/// Block `i` of library_matmul_blocks().
MatmulBlock library_matmul_block(const LibraryMatmul& shape, std::int64_t i);

/// The share of part `part` of `parts`: consecutive whole blocks, computed on the calling thread alone. The
/// parts together write the same bits whatever `parts` is. More parts than blocks leave some without work.
/// Throws InternalError when the library fails, as for want of memory.
void library_matmul_part(const LibraryMatmul& shape, const float* a, const float* b, float* c,
                         std::int64_t part, std::int64_t parts);

/// All of it, on the calling thread.
void library_matmul(const LibraryMatmul& shape, const float* a, const float* b, float* c);

}  // namespace tightloop::backends::cpu
