// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>
#include <tightloop/base/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tightloop {

/// A dense row-major array in host memory: a dtype, dims, and bytes that are either owned
/// (64-byte aligned, zeroed) or borrowed from whatever `owner` keeps alive. Copies share the bytes.
class Array {
 public:
  /// A scalar f32 zero.
  Array() : Array(DType::f32, {}) {}
  /// Zero-filled. Throws Error when a dim is negative or the byte count overflows.
  Array(DType dtype, std::vector<std::int64_t> dims);
  /// Borrows `bytes`; `owner` (may be null) is held as long as this array or a copy lives.
  static Array borrow(DType dtype, std::vector<std::int64_t> dims, void* bytes,
                      std::shared_ptr<const void> owner = nullptr);
  /// Copies `values`, whose number must fit `dims`.
  template <class T>
  static Array of(std::vector<std::int64_t> dims, std::span<const T> values);
  template <class T>
  static Array of(std::vector<std::int64_t> dims, std::initializer_list<T> values) {
    return of(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Array scalar(T value) {
    return of<T>({}, std::span<const T>(&value, 1));
  }

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::size_t rank() const { return dims_.size(); }
  std::int64_t count() const { return count_; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(count_) * size_of(dtype_); }
  std::byte* bytes() { return bytes_; }
  const std::byte* bytes() const { return bytes_; }

  /// The elements; throws InternalError unless T is stored as dtype().
  template <class T>
  std::span<T> as() {
    check_type(dtype_of<T>);
    return {reinterpret_cast<T*>(bytes_), static_cast<std::size_t>(count_)};
  }
  template <class T>
  std::span<const T> as() const {
    check_type(dtype_of<T>);
    return {reinterpret_cast<const T*>(bytes_), static_cast<std::size_t>(count_)};
  }

  /// A copy with its own bytes.
  Array clone() const;
  /// The same bytes under other dims of the same count; throws Error otherwise.
  Array reshaped(std::vector<std::int64_t> dims) const;
  /// A converted copy: floats to floats round to nearest even, floats to integers truncate and
  /// saturate (NaN becomes 0), anything to bool is `!= 0`.
  Array cast(DType to) const;
  /// Element `i` in row-major order, read as double (i64 beyond 2^53 rounds).
  double at(std::int64_t i) const;
  /// Element `i` read as an integer; floats truncate.
  std::int64_t int_at(std::int64_t i) const;
  /// Stores `value` at element `i`, converted as cast() does.
  void set(std::int64_t i, double value);
  void set_int(std::int64_t i, std::int64_t value);

  /// "f32[3, 4]"
  std::string type_string() const;

 private:
  void check_type(DType requested) const { require(requested == dtype_, "Array::as: dtype mismatch"); }

  DType dtype_ = DType::f32;
  std::vector<std::int64_t> dims_;
  std::int64_t count_ = 1;
  std::byte* bytes_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// Equal dtype, dims and bytes.
bool identical(const Array& a, const Array& b);

template <class T>
Array Array::of(std::vector<std::int64_t> dims, std::span<const T> values) {
  Array a(dtype_of<T>, std::move(dims));
  if (static_cast<std::size_t>(a.count()) != values.size())
    throw Error("array: " + std::to_string(values.size()) + " values do not fill " + a.type_string());
  auto out = a.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return a;
}

}  // namespace tightloop
