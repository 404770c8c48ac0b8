// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/flat.h>

#include <algorithm>

namespace tightloop::optim {

std::int64_t flat_size(const std::vector<Array>& arrays) {
  std::int64_t n = 0;
  for (const Array& a : arrays) n += a.count();
  return n;
}

void flatten(const std::vector<Array>& arrays, std::span<double> to) {
  require(flat_size(arrays) == static_cast<std::int64_t>(to.size()), "flatten: another number of elements");
  auto at = to.begin();
  for (const Array& a : arrays) {
    if (a.dtype() == DType::f64)
      at = std::ranges::copy(a.as<double>(), at).out;
    else if (a.dtype() == DType::f32)
      at = std::ranges::copy(a.as<float>(), at).out;
    else
      for (std::int64_t i = 0; i < a.count(); ++i) *at++ = a.at(i);
  }
}

void unflatten(std::span<const double> from, std::vector<Array>& arrays) {
  require(flat_size(arrays) == static_cast<std::int64_t>(from.size()),
          "unflatten: another number of elements");
  for (Array& a : arrays) {
    const auto n = static_cast<std::size_t>(a.count());
    if (a.dtype() == DType::f64)
      std::ranges::copy(from.first(n), a.as<double>().begin());
    else if (a.dtype() == DType::f32)
      std::ranges::transform(from.first(n), a.as<float>().begin(),
                             [](double v) { return static_cast<float>(v); });
    else
      for (std::size_t i = 0; i < n; ++i) a.set(static_cast<std::int64_t>(i), from[i]);
    from = from.subspan(n);
  }
}

}  // namespace tightloop::optim
