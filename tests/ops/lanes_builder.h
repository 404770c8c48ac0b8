// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scalar builder that computes at once, on a list of lanes, as C++ does: tests run an op's body by it.
#include <tightloop/base/array.h>
#include <tightloop/ir/op.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <vector>

namespace tightloop::testing {

class LanesBuilder final : public ir::ScalarBuilder {
  using Scalar = ir::Scalar;
  using Lanes = std::vector<std::byte>;

 public:
  explicit LanesBuilder(std::int64_t count) : count_(static_cast<std::size_t>(count)) {}

  Scalar input(const Array& a) {
    Scalar s = make(carried(a.dtype()));
    for (std::size_t i = 0; i < count_; ++i) {
      const auto k = static_cast<std::int64_t>(a.count() == 1 ? 0 : i);
      on(s.dtype, [&]<class T>(T) {
        at<T>(s, i) = is_floating(a.dtype()) ? static_cast<T>(a.at(k)) : static_cast<T>(a.int_at(k));
      });
    }
    return s;
  }
  void read(Scalar s, Array& out) {
    for (std::size_t i = 0; i < count_; ++i)
      on(s.dtype, [&]<class T>(T) {
        const auto k = static_cast<std::int64_t>(i);
        is_floating(out.dtype()) ? out.set(k, static_cast<double>(at<T>(s, i)))
                                 : out.set_int(k, static_cast<std::int64_t>(at<T>(s, i)));
      });
  }
  /// Storage types travel as f32.
  static DType carried(DType d) { return is_floating(d) && d != DType::f64 ? DType::f32 : d; }

  Scalar constant(DType d, double v) override {
    return each(d, [&]<class T>(T*, std::size_t) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::int64_t>(v));
      else
        return static_cast<T>(v);
    });
  }
  Scalar constant_int(DType d, std::int64_t v) override {
    return each(d, [&]<class T>(T*, std::size_t) { return static_cast<T>(v); });
  }
  Scalar add(Scalar a, Scalar b) override {
    return binary(a, b, [](auto x, auto y) { return x + y; });
  }
  Scalar sub(Scalar a, Scalar b) override {
    return binary(a, b, [](auto x, auto y) { return x - y; });
  }
  Scalar mul(Scalar a, Scalar b) override {
    return binary(a, b, [](auto x, auto y) { return x * y; });
  }
  Scalar div(Scalar a, Scalar b) override {
    return each(a.dtype, [&]<class T>(T*, std::size_t i) -> T {
      const T x = at<T>(a, i), y = at<T>(b, i);
      if constexpr (std::is_floating_point_v<T>)
        return x / y;
      else
        return y == 0 ? T(0) : y == T(-1) ? static_cast<T>(bits(T(0)) - bits(x)) : static_cast<T>(x / y);
    });
  }
  Scalar rem(Scalar a, Scalar b) override {
    return each(a.dtype, [&]<class T>(T*, std::size_t i) -> T {
      const T x = at<T>(a, i), y = at<T>(b, i);
      if constexpr (std::is_floating_point_v<T>)
        return std::fmod(x, y);
      else
        return y == 0 || y == T(-1) ? T(0) : static_cast<T>(x % y);
    });
  }
  Scalar fma(Scalar a, Scalar b, Scalar c) override {
    return floats(
        a.dtype, [&]<class T>(T*, std::size_t i) { return std::fma(at<T>(a, i), at<T>(b, i), at<T>(c, i)); });
  }
  Scalar sqrt(Scalar a) override {
    return floats(a.dtype, [&]<class T>(T*, std::size_t i) { return std::sqrt(at<T>(a, i)); });
  }
  Scalar abs(Scalar a) override {
    return unary(a, [](auto x) { return std::signbit(static_cast<double>(x)) ? decltype(x)(-x) : x; });
  }
  Scalar neg(Scalar a) override {
    return unary(a, [](auto x) { return static_cast<decltype(x)>(-x); });
  }
  Scalar floor(Scalar a) override {
    return floats(a.dtype, [&]<class T>(T*, std::size_t i) { return std::floor(at<T>(a, i)); });
  }
  Scalar ceil(Scalar a) override {
    return floats(a.dtype, [&]<class T>(T*, std::size_t i) { return std::ceil(at<T>(a, i)); });
  }
  Scalar trunc(Scalar a) override {
    return floats(a.dtype, [&]<class T>(T*, std::size_t i) { return std::trunc(at<T>(a, i)); });
  }
  Scalar round(Scalar a) override {
    return floats(a.dtype, [&]<class T>(T*, std::size_t i) { return std::nearbyint(at<T>(a, i)); });
  }
  Scalar copysign(Scalar a, Scalar b) override {
    return floats(a.dtype,
                  [&]<class T>(T*, std::size_t i) { return std::copysign(at<T>(a, i), at<T>(b, i)); });
  }
  Scalar min(Scalar a, Scalar b) override {
    return each(a.dtype, [&]<class T>(T*, std::size_t i) {
      return x_or_y<T>(at<T>(a, i), at<T>(b, i), at<T>(a, i) < at<T>(b, i));
    });
  }
  Scalar max(Scalar a, Scalar b) override {
    return each(a.dtype, [&]<class T>(T*, std::size_t i) {
      return x_or_y<T>(at<T>(a, i), at<T>(b, i), at<T>(a, i) > at<T>(b, i));
    });
  }
  Scalar compare(ir::Compare c, Scalar a, Scalar b) override {
    Scalar out = make(DType::boolean);
    for (std::size_t i = 0; i < count_; ++i)
      on(a.dtype, [&]<class T>(T) { at<std::uint8_t>(out, i) = holds(c, at<T>(a, i), at<T>(b, i)); });
    return out;
  }
  Scalar select(Scalar c, Scalar a, Scalar b) override {
    require(a.dtype == b.dtype && c.dtype == DType::boolean, "select: dtypes");
    return each(a.dtype, [&]<class T>(T*, std::size_t i) {
      return at<std::uint8_t>(c, i) ? at<T>(a, i) : at<T>(b, i);
    });
  }
  Scalar bit_and(Scalar a, Scalar b) override {
    return integers(a, [&](auto x, std::size_t i) { return x & at<decltype(x)>(b, i); });
  }
  Scalar bit_or(Scalar a, Scalar b) override {
    return integers(a, [&](auto x, std::size_t i) { return x | at<decltype(x)>(b, i); });
  }
  Scalar bit_xor(Scalar a, Scalar b) override {
    return integers(a, [&](auto x, std::size_t i) { return x ^ at<decltype(x)>(b, i); });
  }
  Scalar shift_left(Scalar a, int n) override {
    return integers(a, [&](auto x, std::size_t) { return static_cast<std::uint64_t>(bits(x)) << n; });
  }
  Scalar shift_right(Scalar a, int n) override {
    return integers(a, [&](auto x, std::size_t) { return bits(x) >> n; });
  }
  Scalar convert(Scalar a, DType to) override {
    Array from(a.dtype, {static_cast<std::int64_t>(count_)});
    std::memcpy(from.bytes(), lanes(a).data(), from.size_bytes());
    Scalar out = make(to);
    const Array converted = from.cast(to);
    std::memcpy(lanes(out).data(), converted.bytes(), converted.size_bytes());
    return out;
  }
  Scalar widen_unsigned(Scalar a) override {
    return each(DType::i64, [&]<class T>(T*, std::size_t i) {
      return static_cast<T>(static_cast<std::uint32_t>(at<std::int32_t>(a, i)));
    });
  }
  Scalar bitcast(Scalar a, DType to) override {
    require(size_of(a.dtype) == size_of(to), "bitcast: sizes");
    Scalar out = make(to);
    lanes(out) = lanes(a);
    return out;
  }
  Scalar libm(std::string_view name, std::initializer_list<Scalar> args) override {
    const Scalar a = *args.begin(), b = *(args.end() - 1);
    require(a.dtype == DType::f64, "libm: f64 only");
    return each(DType::f64, [&]<class T>(T*, std::size_t i) {
      return static_cast<T>(call(name, at<double>(a, i), at<double>(b, i)));
    });
  }
  Scalar element_index() override {
    return each(DType::i64, [&]<class T>(T*, std::size_t i) { return static_cast<T>(i); });
  }

 private:
  template <class T>
  static bool holds(ir::Compare c, T x, T y) {
    switch (c) {
      case ir::Compare::eq:
        return x == y;
      case ir::Compare::ne:
        return x != y;
      case ir::Compare::lt:
        return x < y;
      case ir::Compare::le:
        return x <= y;
      case ir::Compare::gt:
        return x > y;
      case ir::Compare::ge:
        return x >= y;
    }
    return false;
  }
  template <class T>
  static T x_or_y(T x, T y, bool first) {
    if (x != x) return x;
    if (y != y) return y;
    return first ? x : y;
  }
  template <class T>
  static auto bits(T x) {
    return static_cast<std::make_unsigned_t<T>>(x);
  }
  static double call(std::string_view f, double x, double y) {
    using Unary = double (*)(double);
    static const std::pair<std::string_view, Unary> unary[] = {
        {"exp", std::exp},   {"expm1", std::expm1}, {"log", std::log},   {"log1p", std::log1p},
        {"sin", std::sin},   {"cos", std::cos},     {"tan", std::tan},   {"atan", std::atan},
        {"sinh", std::sinh}, {"cosh", std::cosh},   {"tanh", std::tanh}, {"erf", std::erf},
        {"erfc", std::erfc}};
    for (const auto& [name, function] : unary)
      if (name == f) return function(x);
    require(f == "pow" || f == "atan2", "libm: unknown function");
    return f == "pow" ? std::pow(x, y) : std::atan2(x, y);
  }

  template <class F>
  static void on(DType d, F f) {
    switch (d) {
      case DType::f32:
        return f(float{});
      case DType::f64:
        return f(double{});
      case DType::i32:
        return f(std::int32_t{});
      case DType::i64:
        return f(std::int64_t{});
      default:
        return f(std::uint8_t{});
    }
  }
  template <class F>
  static void on_float(DType d, F f) {
    require(d == DType::f32 || d == DType::f64, "a floating operation on integers");
    d == DType::f32 ? f(float{}) : f(double{});
  }
  Scalar make(DType d) {
    require(!is_floating(d) || is_compute_float(d), "a scalar of a storage type");
    store_.emplace_back(count_ * 8);
    return {&store_.back(), d, this};
  }
  Lanes& lanes(Scalar s) { return *static_cast<Lanes*>(s.handle); }
  template <class T>
  T& at(Scalar s, std::size_t i) {
    return reinterpret_cast<T*>(lanes(s).data())[i];
  }
  template <class F>
  Scalar each(DType d, F f) {
    Scalar out = make(d);
    on(d, [&]<class T>(T) {
      for (std::size_t i = 0; i < count_; ++i) {
        at<T>(out, i) = static_cast<T>(f(static_cast<T*>(nullptr), i));
        if (d == DType::boolean) at<T>(out, i) = at<T>(out, i) != 0;
      }
    });
    return out;
  }
  template <class F>
  Scalar floats(DType d, F f) {
    Scalar out = make(d);
    on_float(d, [&]<class T>(T) {
      for (std::size_t i = 0; i < count_; ++i) at<T>(out, i) = f(static_cast<T*>(nullptr), i);
    });
    return out;
  }
  template <class F>
  Scalar binary(Scalar a, Scalar b, F f) {
    require(a.dtype == b.dtype && a.dtype != DType::boolean, "arithmetic: dtypes");
    return each(a.dtype, [&]<class T>(T*, std::size_t i) {
      if constexpr (std::is_floating_point_v<T>)
        return f(at<T>(a, i), at<T>(b, i));
      else
        return static_cast<T>(
            f(static_cast<std::uint64_t>(at<T>(a, i)), static_cast<std::uint64_t>(at<T>(b, i))));
    });
  }
  template <class F>
  Scalar unary(Scalar a, F f) {
    return each(a.dtype, [&]<class T>(T*, std::size_t i) { return f(at<T>(a, i)); });
  }
  template <class F>
  Scalar integers(Scalar a, F f) {
    require(!is_floating(a.dtype), "a bit operation on floats");
    return each(a.dtype, [&]<class T>(T*, std::size_t i) -> T {
      if constexpr (std::is_floating_point_v<T>)
        return T(0);
      else
        return static_cast<T>(f(at<T>(a, i), i));
    });
  }

  std::size_t count_;
  std::deque<Lanes> store_;
};

}  // namespace tightloop::testing
