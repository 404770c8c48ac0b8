// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/shape.h>

#include <algorithm>

namespace tightloop {
namespace {

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw Error("shape: the number of elements overflows 64 bits");
  return r;
}

void check(const std::vector<Dim>& dims) {
  if (dims.size() > kMaxRank)
    throw Error("shape: rank " + std::to_string(dims.size()) + " is over the limit of " +
                std::to_string(kMaxRank));
  for (const Dim& d : dims)
    if (d.factor < 0) throw Error("shape: negative dim " + std::to_string(d.factor));
}

template <class Range, class Print>
std::string bracketed(const Range& range, Print print) {
  std::string out = "[";
  for (const auto& item : range) {
    if (out.size() > 1) out += ", ";
    out += print(item);
  }
  return out + "]";
}

}  // namespace

std::string to_string(const Dim& d) {
  if (d.is_static()) return std::to_string(d.factor);
  const char* letter = d.symbol == Symbol::batch ? "B" : d.symbol == Symbol::rows ? "N" : "G";
  return d.factor == 1 ? letter : std::to_string(d.factor) + letter;
}

Shape::Shape(std::initializer_list<Dim> dims) : dims_(dims) { check(dims_); }
Shape::Shape(std::vector<Dim> dims) : dims_(std::move(dims)) { check(dims_); }

bool Shape::is_static() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.is_static(); });
}

Dim Shape::count() const {
  Dim total = 1;
  for (const Dim& d : dims_) {
    if (!d.is_static()) {
      if (!total.is_static()) throw Error("shape: " + to_string(*this) + " has two symbolic dims");
      total.symbol = d.symbol;
    }
    total.factor = checked_multiply(total.factor, d.factor);
  }
  return total;
}

std::int64_t Shape::count(const Sizes& s) const { return product(values(s)); }

std::vector<std::int64_t> Shape::values(const Sizes& s) const {
  std::vector<std::int64_t> out;
  out.reserve(dims_.size());
  for (const Dim& d : dims_) out.push_back(d.value(s));
  return out;
}

std::string to_string(const Shape& s) {
  return bracketed(s, [](const Dim& d) { return to_string(d); });
}

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::int64_t product(const std::vector<std::int64_t>& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n = checked_multiply(n, d);
  return n;
}

std::string to_string(const TensorType& t) { return std::string(name(t.dtype)) + to_string(t.shape); }

}  // namespace tightloop
