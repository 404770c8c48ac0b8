// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/shape.h>
#include <tightloop/io/stored_type.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace tightloop::io {
namespace {

static_assert(std::endian::native == std::endian::little, "stored bytes are taken as they are");

template <class T>
T load(const std::byte* from, bool big_endian) {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), from, sizeof(T));
  if (big_endian) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

template <class To, class From>
To widen(From value) {
  if constexpr (std::is_same_v<From, std::uint64_t> && std::is_same_v<To, std::int64_t>) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<To>::max()))
      throw Error("the unsigned value " + std::to_string(value) + " does not fit into i64");
  }
  return static_cast<To>(value);
}

std::vector<std::int64_t> stored_strides(const std::vector<std::int64_t>& dims, bool fortran_order) {
  if (!fortran_order) return row_major_strides(dims);
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = 1; i < dims.size(); ++i) strides[i] = strides[i - 1] * dims[i - 1];
  return strides;
}

/// Calls row(offset) with the stored offset of each innermost row, in row-major order.
template <class Row>
void for_each_row(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides, Row row) {
  std::vector<std::int64_t> index(dims.size(), 0);
  std::int64_t offset = 0;
  for (;;) {
    row(offset);
    std::size_t d = dims.empty() ? 0 : dims.size() - 1;
    for (;; --d) {
      if (d == 0) return;
      offset += strides[d - 1];
      if (++index[d - 1] < dims[d - 1]) break;
      offset -= strides[d - 1] * dims[d - 1];
      index[d - 1] = 0;
    }
  }
}

template <class From, class To>
void convert(const std::byte* bytes, StoredLayout layout, Array& out) {
  if (out.count() == 0) return;
  const auto& dims = out.dims();
  const auto strides = stored_strides(dims, layout.fortran_order);
  const std::int64_t length = dims.empty() ? 1 : dims.back();
  const std::int64_t stride = dims.empty() ? 1 : strides.back();
  std::byte* to = out.bytes();
  for_each_row(dims, strides, [&](std::int64_t offset) {
    for (std::int64_t i = 0; i < length; ++i, to += sizeof(To)) {
      const auto at = static_cast<std::size_t>(offset + i * stride) * sizeof(From);
      const To value = widen<To>(load<From>(bytes + at, layout.big_endian));
      std::memcpy(to, &value, sizeof(To));
    }
  });
}

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Types that are ours already are moved as unsigned integers of their size, bit for bit.
constexpr StoredType kStoredTypes[] = {
    {"f2", 0, 2, DType::f16, convert<u16, u16>},
    {"f4", 0x0d, 4, DType::f32, convert<u32, u32>},
    {"f8", 0x0e, 8, DType::f64, convert<u64, u64>},
    {"i1", 0x09, 1, DType::i32, convert<std::int8_t, i32>},
    {"i2", 0x0b, 2, DType::i32, convert<std::int16_t, i32>},
    {"i4", 0x0c, 4, DType::i32, convert<u32, u32>},
    {"i8", 0, 8, DType::i64, convert<u64, u64>},
    {"u1", 0x08, 1, DType::u8, convert<u8, u8>},
    {"u2", 0, 2, DType::i32, convert<u16, i32>},
    {"u4", 0, 4, DType::i64, convert<u32, i64>},
    {"u8", 0, 8, DType::i64, convert<u64, i64>},
    {"b1", 0, 1, DType::boolean, convert<u8, u8>},
};

/// The bytes can be used where they lie.
bool usable_in_place(const StoredType& type, const std::vector<std::int64_t>& dims, const Bytes& bytes,
                     StoredLayout layout) {
  const bool same_type = type.size == size_of(type.dtype) && type.npy != "u8";
  const bool same_order = type.size == 1 || !layout.big_endian;
  const bool same_layout = !layout.fortran_order || dims.size() <= 1;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % type.size == 0;
  return same_type && same_order && same_layout && aligned && !bytes.empty();
}

}  // namespace

const StoredType* stored_type_of_npy(std::string_view code) {
  for (const auto& t : kStoredTypes)
    if (t.npy == code) return &t;
  return nullptr;
}

const StoredType* stored_type_of_idx(std::uint8_t code) {
  for (const auto& t : kStoredTypes)
    if (t.idx == code && code != 0) return &t;
  return nullptr;
}

std::string npy_type_list() {
  std::string out;
  for (const auto& t : kStoredTypes) out += (out.empty() ? "" : ", ") + std::string(t.npy);
  return out;
}

std::size_t stored_bytes(const std::vector<std::int64_t>& dims, std::size_t size, const std::string& name) {
  std::int64_t total = static_cast<std::int64_t>(size);
  for (const std::int64_t d : dims)
    if (d < 0 || __builtin_mul_overflow(total, d, &total))
      throw Error(name + ": the shape is negative or its number of bytes overflows 64 bits");
  return static_cast<std::size_t>(total);
}

void check_bools(const Array& array, const std::string& name) {
  if (array.dtype() != DType::boolean) return;
  const std::byte* p = array.bytes();
  for (std::int64_t i = 0; i < array.count(); ++i)
    if (p[i] > std::byte{1})
      throw Error(name + ": bool element " + std::to_string(i) + " holds the byte " +
                  std::to_string(std::to_integer<int>(p[i])) + ", not 0 or 1");
}

Array decode(const StoredType& type, std::vector<std::int64_t> dims, const Bytes& bytes, StoredLayout layout,
             const std::string& name) {
  const std::size_t wanted = stored_bytes(dims, type.size, name);
  if (wanted != bytes.size())
    throw Error(name + ": the header asks for " + std::to_string(wanted) + " bytes of data, the file has " +
                std::to_string(bytes.size()) + (bytes.size() < wanted ? " (cut short?)" : ""));
  Array out = usable_in_place(type, dims, bytes, layout)
                  ? Array::borrow(type.dtype, dims, bytes.data(), bytes.owner())
                  : Array(type.dtype, dims);
  try {
    if (out.bytes() != bytes.data()) type.convert(bytes.data(), layout, out);
  } catch (const Error& e) {
    throw Error(name + ": " + e.what());
  }
  check_bools(out, name);
  return out;
}

}  // namespace tightloop::io
