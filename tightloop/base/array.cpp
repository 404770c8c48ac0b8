// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/array.h>
#include <tightloop/base/half.h>
#include <tightloop/base/shape.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace tightloop {
namespace {

constexpr std::size_t kAlignment = 64;

template <class T>
T load(const std::byte* p, std::int64_t i) {
  T v;
  std::memcpy(&v, p + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

template <class T>
void store(std::byte* p, std::int64_t i, T v) {
  std::memcpy(p + static_cast<std::size_t>(i) * sizeof(T), &v, sizeof(T));
}

template <class Int>
Int saturate(double v) {
  if (std::isnan(v)) return 0;
  if (v <= static_cast<double>(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
  if (v >= static_cast<double>(std::numeric_limits<Int>::max())) return std::numeric_limits<Int>::max();
  return static_cast<Int>(v);
}

std::size_t byte_count(DType dtype, const std::vector<std::int64_t>& dims) {
  for (const auto d : dims)
    if (d < 0) throw Error("array: negative dim " + std::to_string(d));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(product(dims)), size_of(dtype), &bytes))
    throw Error("array: the number of bytes overflows 64 bits");
  return bytes;
}

}  // namespace

Array::Array(DType dtype, std::vector<std::int64_t> dims) : dtype_(dtype), dims_(std::move(dims)) {
  const std::size_t bytes = byte_count(dtype_, dims_);
  count_ = product(dims_);
  const std::size_t padded = (bytes + kAlignment) / kAlignment * kAlignment;
  void* p = padded < bytes ? nullptr : std::aligned_alloc(kAlignment, padded);
  if (p == nullptr)
    throw Error("array: cannot allocate " + std::to_string(bytes) + " bytes for " + type_string());
  std::memset(p, 0, padded);
  bytes_ = static_cast<std::byte*>(p);
  owner_ = std::shared_ptr<const void>(p, [](const void* q) { std::free(const_cast<void*>(q)); });
}

Array Array::borrow(DType dtype, std::vector<std::int64_t> dims, void* bytes,
                    std::shared_ptr<const void> owner) {
  byte_count(dtype, dims);
  Array a;
  a.dtype_ = dtype;
  a.count_ = product(dims);
  a.dims_ = std::move(dims);
  a.bytes_ = static_cast<std::byte*>(bytes);
  a.owner_ = std::move(owner);
  return a;
}

Array Array::clone() const {
  Array copy(dtype_, dims_);
  if (size_bytes() != 0) std::memcpy(copy.bytes_, bytes_, size_bytes());
  return copy;
}

Array Array::reshaped(std::vector<std::int64_t> dims) const {
  if (product(dims) != count_)
    throw Error("reshape: " + type_string() + " does not have " + std::to_string(product(dims)) +
                " elements");
  Array view = *this;
  view.dims_ = std::move(dims);
  return view;
}

Array Array::cast(DType to) const {
  if (to == dtype_) return clone();
  Array out(to, dims_);
  const bool through_int = !is_floating(dtype_) && !is_floating(to);
  for (std::int64_t i = 0; i < count_; ++i) {
    if (through_int)
      out.set_int(i, int_at(i));
    else
      out.set(i, at(i));
  }
  return out;
}

double Array::at(std::int64_t i) const {
  switch (dtype_) {
    case DType::f32:
      return load<float>(bytes_, i);
    case DType::f64:
      return load<double>(bytes_, i);
    case DType::bf16:
      return from_bf16(load<std::uint16_t>(bytes_, i));
    case DType::f16:
      return from_f16(load<std::uint16_t>(bytes_, i));
    default:
      return static_cast<double>(int_at(i));
  }
}

std::int64_t Array::int_at(std::int64_t i) const {
  switch (dtype_) {
    case DType::i32:
      return load<std::int32_t>(bytes_, i);
    case DType::i64:
      return load<std::int64_t>(bytes_, i);
    case DType::u8:
      return load<std::uint8_t>(bytes_, i);
    case DType::boolean:
      return load<std::uint8_t>(bytes_, i) != 0;
    default:
      return saturate<std::int64_t>(at(i));
  }
}

void Array::set(std::int64_t i, double v) {
  switch (dtype_) {
    case DType::f32:
      store(bytes_, i, static_cast<float>(v));
      break;
    case DType::f64:
      store(bytes_, i, v);
      break;
    case DType::bf16:
      store(bytes_, i, to_bf16(static_cast<float>(v)));
      break;
    case DType::f16:
      store(bytes_, i, to_f16(static_cast<float>(v)));
      break;
    case DType::i32:
      store(bytes_, i, saturate<std::int32_t>(v));
      break;
    case DType::i64:
      store(bytes_, i, saturate<std::int64_t>(v));
      break;
    case DType::u8:
      store(bytes_, i, saturate<std::uint8_t>(v));
      break;
    case DType::boolean:
      store(bytes_, i, static_cast<std::uint8_t>(v != 0));
      break;
  }
}

void Array::set_int(std::int64_t i, std::int64_t v) {
  switch (dtype_) {
    case DType::i32:
      store(bytes_, i, static_cast<std::int32_t>(v));
      break;
    case DType::i64:
      store(bytes_, i, v);
      break;
    case DType::u8:
      store(bytes_, i, static_cast<std::uint8_t>(v));
      break;
    case DType::boolean:
      store(bytes_, i, static_cast<std::uint8_t>(v != 0));
      break;
    default:
      set(i, static_cast<double>(v));
  }
}

std::string Array::type_string() const {
  std::string out(name(dtype_));
  out += "[";
  for (std::size_t i = 0; i < dims_.size(); ++i) out += (i ? ", " : "") + std::to_string(dims_[i]);
  return out + "]";
}

bool identical(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         (a.size_bytes() == 0 || std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0);
}

}  // namespace tightloop
