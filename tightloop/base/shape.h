// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tightloop {

/// What a dim counts, times its factor: a plain number, the rows of the
/// current batch (B), the rows of the resident data set (N), or the groups that a backend cuts a batch into
/// (G; in no graph that a user makes).
enum class Symbol : std::uint8_t { none, batch, rows, groups };

/// The run-time values of the symbols.
struct Sizes {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t groups = 1;

  constexpr std::int64_t of(Symbol s) const {
    return s == Symbol::batch ? batch : s == Symbol::rows ? rows : s == Symbol::groups ? groups : 1;
  }
};

/// One dim of a shape: `7`, `B`, `4B` or `N`.
struct Dim {
  std::int64_t factor = 1;
  Symbol symbol = Symbol::none;

  constexpr Dim() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a dim.
  constexpr Dim(std::int64_t n) : factor(n) {}
  constexpr Dim(std::int64_t n, Symbol s) : factor(n), symbol(s) {}
  static constexpr Dim batch(std::int64_t factor = 1) { return {factor, Symbol::batch}; }
  static constexpr Dim rows(std::int64_t factor = 1) { return {factor, Symbol::rows}; }

  constexpr bool is_static() const { return symbol == Symbol::none; }
  constexpr bool is(std::int64_t n) const { return is_static() && factor == n; }
  constexpr std::int64_t value(const Sizes& s) const { return factor * s.of(symbol); }
  friend constexpr bool operator==(const Dim&, const Dim&) = default;
};

std::string to_string(const Dim& d);

inline constexpr std::size_t kMaxRank = 8;

/// A list of dims, printed as `[B, 40]`. Rank at most kMaxRank.
class Shape {
 public:
  Shape() = default;
  /// Throws Error when a dim is negative or the rank is over kMaxRank.
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::vector<Dim> dims);

  std::size_t rank() const { return dims_.size(); }
  const Dim& operator[](std::size_t i) const { return dims_[i]; }
  const std::vector<Dim>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  bool is_static() const;
  bool is_scalar() const { return dims_.empty(); }

  /// Number of elements as one dim; throws Error when two symbols multiply or the product
  /// overflows.
  Dim count() const;
  std::int64_t count(const Sizes& s) const;
  std::vector<std::int64_t> values(const Sizes& s) const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dim> dims_;
};

std::string to_string(const Shape& s);
/// Row-major strides in elements.
std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& dims);
/// Product of `dims`; throws Error when it overflows.
std::int64_t product(const std::vector<std::int64_t>& dims);

/// Element type and shape, printed as `f32[B, 40]`.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

std::string to_string(const TensorType& t);

}  // namespace tightloop
