// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/library/one_thread.h>
#include <tightloop/base/error.h>

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace tightloop::backends::cpu {
namespace {

using dnnl::memory;

/// What a block's primitive is made for.
struct BlockKey {
  DType type;
  std::int64_t rows, columns, k, lead_a, lead_b, lead_c;
  bool transpose_a, transpose_b;
  auto operator<=>(const BlockKey&) const = default;
};

/// The product of one size of block, with its arguments: one thread's own.
class BlockProduct {
 public:
  explicit BlockProduct(const BlockKey& key) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const auto type = key.type == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    const auto matrix = [](std::int64_t rows, std::int64_t columns, memory::data_type of, std::int64_t lead,
                           bool transposed) {
      return memory::desc({rows, columns}, of, transposed ? memory::dims{1, lead} : memory::dims{lead, 1});
    };
    const auto a = matrix(key.rows, key.k, type, key.lead_a, key.transpose_a);
    const auto b = matrix(key.k, key.columns, type, key.lead_b, key.transpose_b);
    const auto c = matrix(key.rows, key.columns, memory::data_type::f32, key.lead_c, false);
    product_ = dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine_));
    a_ = memory(a, engine_, nullptr);
    b_ = memory(b, engine_, nullptr);
    c_ = memory(c, engine_, nullptr);
  }

  void run(const void* a, const void* b, float* c) {
    a_.set_data_handle(const_cast<void*>(a));
    b_.set_data_handle(const_cast<void*>(b));
    c_.set_data_handle(c);
    product_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  memory a_, b_, c_;
};

BlockProduct& product_of(const BlockKey& key) {
  thread_local std::map<BlockKey, BlockProduct> known;
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, BlockProduct(key)).first->second;
}

void clear(float* c, std::int64_t rows, std::int64_t columns, std::int64_t lead) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(c + r * lead, columns, 0.0f);
}

}  // namespace

bool library_computes(DType low) {
  const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
  return low == DType::bf16 && (isa == dnnl_cpu_isa_avx512_core_bf16 || isa == dnnl_cpu_isa_avx512_core_amx);
}

void library_low_matmul_part(const LibraryMatmul& s, DType type, const void* a, const void* b, float* c,
                             std::int64_t part, std::int64_t parts) {
  const OneThread alone;
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto *from_a = static_cast<const std::byte*>(a), *from_b = static_cast<const std::byte*>(b);
  try {
    const std::int64_t blocks = library_matmul_blocks(s), end = blocks * (part + 1) / parts;
    for (std::int64_t i = blocks * part / parts; i < end; ++i) {
      const MatmulBlock block = library_matmul_block(s, i);
      float* to = c + block.c;
      if (s.k == 0)
        clear(to, block.rows, block.columns, s.lead_c);
      else
        product_of({type, block.rows, block.columns, s.k, s.lead_a, s.lead_b, s.lead_c, s.transpose_a,
                    s.transpose_b})
            .run(from_a + block.a * size, from_b + block.b * size, to);
    }
  } catch (const dnnl::error& e) {
    throw InternalError(std::string("oneDNN's matmul failed: ") + e.what());
  }
}

}  // namespace tightloop::backends::cpu
