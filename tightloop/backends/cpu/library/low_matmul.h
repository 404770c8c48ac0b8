// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/library/matmul.h>

namespace tightloop::backends::cpu {

/// Whether oneDNN multiplies values of this low type by instructions made for them: bf16 with AVX512-BF16 or
/// AMX. f16 it does not know on CPUs.
bool library_computes(DType low);

/// library_matmul_part() of operands that lie in `type`: bf16 where library_computes() it, or f32. The result
/// is f32, and so are the sums.
void library_low_matmul_part(const LibraryMatmul& shape, DType type, const void* a, const void* b, float* c,
                             std::int64_t part, std::int64_t parts);

}  // namespace tightloop::backends::cpu
