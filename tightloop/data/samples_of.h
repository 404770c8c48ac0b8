// SPDX-License-Identifier: Apache-2.0
#pragma once
// Your own data set as samples:
//
//   struct Sums {
//     std::int64_t size() const { return 10000; }
//     auto get(std::int64_t i) const { return std::tuple{std::array{a(i), b(i)}, a(i) + b(i)}; }
//   };
//   trainer.fit(net, loss, optimizer, tl::train::stream(tl::data::samples_of(Sums{})));
#include <tightloop/base/error.h>
#include <tightloop/base/shape.h>
#include <tightloop/data/samples.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tightloop::data {
namespace detail {

template <class T>
concept Element = requires {
  DTypeOf<T>::value;
};
template <class T>
concept ElementList = std::ranges::contiguous_range<T> && Element<std::ranges::range_value_t<T>>;
/// A number, a list of numbers (std::vector, std::array, std::span), or an Array.
template <class T>
concept FieldValue = Element<T> || ElementList<T> || std::is_same_v<T, Array>;
template <class T>
concept TupleLike = !FieldValue<T> && requires {
  std::tuple_size<T>::value;
};

struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): stands for a member of any type
};

/// Members of an aggregate: as many values as its braces take.
template <class T, class... A>
constexpr std::size_t members() {
  if constexpr (requires { T{A{}..., Anything{}}; })
    return members<T, A..., Anything>();
  else
    return sizeof...(A);
}

template <class T, class F>
void each_member(const T& value, F&& visit) {
  constexpr std::size_t n = members<T>();
  static_assert(n >= 1 && n <= 6, "a sample is a number, a list, a tuple, or a struct of 1 to 6 of them");
  if constexpr (n == 1) {
    const auto& [a] = value;
    visit(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = value;
    visit(a), visit(b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = value;
    visit(a), visit(b), visit(c);
  } else if constexpr (n == 4) {
    const auto& [a, b, c, d] = value;
    visit(a), visit(b), visit(c), visit(d);
  } else if constexpr (n == 5) {
    const auto& [a, b, c, d, e] = value;
    visit(a), visit(b), visit(c), visit(d), visit(e);
  } else {
    const auto& [a, b, c, d, e, f] = value;
    visit(a), visit(b), visit(c), visit(d), visit(e), visit(f);
  }
}

template <class T, class F>
void each_field(const T& value, F&& visit) {
  if constexpr (FieldValue<T>)
    visit(value);
  else if constexpr (TupleLike<T>)
    std::apply([&](const auto&... v) { (visit(v), ...); }, value);
  else
    each_member(value, visit);
}

struct FieldView {
  DType dtype;
  std::vector<std::int64_t> dims;
  const void* bytes;
};

template <FieldValue T>
FieldView view(const T& value) {
  if constexpr (std::is_same_v<T, Array>)
    return {value.dtype(), value.dims(), value.bytes()};
  else if constexpr (Element<T>)
    return {dtype_of<T>, {}, &value};
  else
    return {dtype_of<std::ranges::range_value_t<T>>,
            {static_cast<std::int64_t>(std::ranges::size(value))},
            std::ranges::data(value)};
}

template <class S>
class UserSamples final : public Samples {
 public:
  UserSamples(S set, std::vector<std::string> names) : set_(std::move(set)) {
    if (size() < 1) throw Error("data: the data set has no samples");
    const auto first = make(0, {});
    each_field(first, [&](const auto& value) {
      const FieldView v = view(value);
      fields_.push_back({"", v.dtype, v.dims});
    });
    name_fields(std::move(names));
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(set_.size()); }
  const std::vector<SampleField>& fields() const override { return fields_; }
  void get(std::int64_t i, const SampleKey& key, std::span<std::byte* const> out) const override {
    const auto sample = make(i, key);
    std::size_t at = 0;
    each_field(sample, [&](const auto& value) {
      const FieldView v = view(value);
      const SampleField& f = fields_[at];
      if (v.dtype != f.dtype || v.dims != f.dims)
        throw Error("'" + f.name + "' has " + std::to_string(product(v.dims)) +
                    " values, in sample 1 it had " + std::to_string(product(f.dims)) +
                    "; the samples of a stream have one size");
      std::memcpy(out[at++], v.bytes, f.bytes());
    });
  }
  std::string name(std::int64_t i) const override {
    if constexpr (requires { std::string(set_.name(i)); })
      return set_.name(i);
    else
      return Samples::name(i);
  }

 private:
  auto make(std::int64_t i, const SampleKey& key) const {
    if constexpr (requires { set_.get(i, key); })
      return set_.get(i, key);
    else
      return set_.get(i);
  }

  void name_fields(std::vector<std::string> names) {
    const std::size_t n = fields_.size();
    if (!names.empty() && names.size() != n)
      throw Error("data: a sample has " + std::to_string(n) + " fields, " + std::to_string(names.size()) +
                  " names came");
    for (std::size_t f = 0; f < n; ++f)
      fields_[f].name = !names.empty()        ? names[f]
                        : f > 0 && f + 1 == n ? "y"
                                              : "x" + (n > 2 ? std::to_string(f) : "");
  }

  S set_;
  std::vector<SampleField> fields_;
};

}  // namespace detail

/// A data set of yours with `size()` and `get(i)`, which returns a number, a list of numbers (std::vector,
/// std::array, std::span, Array), or a tuple or struct of them, the target last. It may also take the key of
/// the random draws, `get(i, key)`, and tell the `name(i)` of a sample for messages. Both are const and
/// called by several threads at once. `names` of the fields: x and y (or x0, x1, ... and y) if left out.
template <class S>
std::shared_ptr<const Samples> samples_of(S set, std::vector<std::string> names = {}) {
  return std::make_shared<detail::UserSamples<S>>(std::move(set), std::move(names));
}

}  // namespace tightloop::data
