// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace tightloop {

/// How the tensors in a value are listed and replaced: a Tensor, or a vector, array, pair or tuple of such.
/// each(value, visit) calls visit(Tensor&) for each tensor, always in the same order.
template <class T>
struct Structure;

template <>
struct Structure<Tensor> {
  template <class Value, class Visit>
  static void each(Value& value, Visit&& visit) {
    visit(value);
  }
};

template <class Range>
struct StructureOfRange {
  template <class Value, class Visit>
  static void each(Value& value, Visit&& visit) {
    for (auto& item : value) Structure<typename Range::value_type>::each(item, visit);
  }
};
template <class T>
struct Structure<std::vector<T>> : StructureOfRange<std::vector<T>> {};
template <class T, std::size_t n>
struct Structure<std::array<T, n>> : StructureOfRange<std::array<T, n>> {};

template <class... T>
struct Structure<std::tuple<T...>> {
  template <class Value, class Visit>
  static void each(Value& value, Visit&& visit) {
    std::apply([&](auto&... item) { (Structure<T>::each(item, visit), ...); }, value);
  }
};
template <class A, class B>
struct Structure<std::pair<A, B>> {
  template <class Value, class Visit>
  static void each(Value& value, Visit&& visit) {
    Structure<A>::each(value.first, visit);
    Structure<B>::each(value.second, visit);
  }
};

template <class T>
std::vector<Tensor> tensors_in(const T& value) {
  std::vector<Tensor> out;
  Structure<T>::each(value, [&](const Tensor& t) { out.push_back(t); });
  return out;
}

/// `like` with its tensors replaced by `tensors`, as many as it has.
template <class T>
T with_tensors(T like, const std::vector<Tensor>& tensors) {
  std::size_t at = 0;
  Structure<T>::each(like, [&](Tensor& t) { t = tensors.at(at++); });
  return like;
}

}  // namespace tightloop
