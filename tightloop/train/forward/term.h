// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>
#include <tightloop/train/job.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tightloop::train::forward {

/// What an expression of the forward text stands for.
struct Term {
  using List = std::vector<Term>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, List> data;
  std::size_t at = 0;  ///< byte of the source, for messages

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  bool none() const { return data.index() == 0; }
  bool number() const { return as<std::int64_t>() != nullptr || as<double>() != nullptr; }
  /// Whole numbers and numbers alike; only after number().
  double value() const {
    const auto* i = as<std::int64_t>();
    return i != nullptr ? static_cast<double>(*i) : std::get<double>(data);
  }
};

/// "the tensor f32[B, 3]", "the number 0.5", "none", …
std::string describe(const Term& term);

/// The term as an option of a layer. Throws Error with a caret for a tensor or a list that is not of numbers.
OptionValue to_option(const Term& term, const Text& text);

/// The term as a tensor that combines with `like`: a number takes like's dtype (f32 when like is
/// integer and the number is not whole). Throws Error with a caret for anything else.
Tensor to_tensor(const Term& term, const Tensor& like, const Text& text);

}  // namespace tightloop::train::forward
