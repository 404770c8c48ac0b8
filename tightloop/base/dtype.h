// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tightloop {

/// Element types. bf16 and f16 are storage types: cast before computing.
enum class DType : std::uint8_t { f32, f64, bf16, f16, i32, i64, u8, boolean };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as printed in graphs and messages
  std::size_t size;       ///< bytes per element
  bool floating;
};

/// The one list of element types, in enum order.
inline constexpr std::array<DTypeInfo, 8> kDTypes{{
    {DType::f32, "f32", 4, true},
    {DType::f64, "f64", 8, true},
    {DType::bf16, "bf16", 2, true},
    {DType::f16, "f16", 2, true},
    {DType::i32, "i32", 4, false},
    {DType::i64, "i64", 8, false},
    {DType::u8, "u8", 1, false},
    {DType::boolean, "bool", 1, false},
}};

constexpr const DTypeInfo& info(DType d) { return kDTypes[static_cast<std::size_t>(d)]; }
constexpr std::string_view name(DType d) { return info(d).name; }
constexpr std::size_t size_of(DType d) { return info(d).size; }
constexpr bool is_floating(DType d) { return info(d).floating; }
/// i32, i64 and u8; bool is not an integer.
constexpr bool is_integer(DType d) { return !is_floating(d) && d != DType::boolean; }
/// f32 and f64: the types arithmetic is done in.
constexpr bool is_compute_float(DType d) { return d == DType::f32 || d == DType::f64; }

constexpr std::optional<DType> dtype_from_name(std::string_view text) {
  for (const auto& d : kDTypes)
    if (d.name == text) return d.dtype;
  return std::nullopt;
}

/// The dtype that a C++ element type is stored as.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace tightloop
