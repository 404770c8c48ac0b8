// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/train/forward/source.h>
#include <tightloop/train/forward/term.h>

#include <fmt/format.h>

namespace tightloop::train::forward {

std::string describe(const Term& term) {
  if (const auto* v = term.as<bool>()) return *v ? "true" : "false";
  if (const auto* v = term.as<std::int64_t>()) return fmt::format("the number {}", *v);
  if (const auto* v = term.as<double>()) return fmt::format("the number {}", *v);
  if (const auto* v = term.as<std::string>()) return fmt::format("the text '{}'", *v);
  if (const auto* v = term.as<Tensor>()) return fmt::format("the tensor {}", to_string(v->type()));
  return term.none() ? "none" : "a list";
}

OptionValue to_option(const Term& term, const Text& text) {
  if (term.none()) return {};
  if (const auto* v = term.as<bool>()) return *v;
  if (const auto* v = term.as<std::int64_t>()) return *v;
  if (const auto* v = term.as<double>()) return *v;
  if (const auto* v = term.as<std::string>()) return *v;
  if (term.as<Tensor>() != nullptr) fail_at(text, term.at, "an option cannot be " + describe(term));
  Numbers numbers;
  for (const Term& t : std::get<Term::List>(term.data)) {
    if (!t.number()) fail_at(text, t.at, "a list of numbers was expected here, not " + describe(t));
    numbers.push_back(t.value());
  }
  return numbers;
}

Tensor to_tensor(const Term& term, const Tensor& like, const Text& text) {
  if (const auto* t = term.as<Tensor>()) return *t;
  if (!term.number()) fail_at(text, term.at, "a tensor or a number was expected here, not " + describe(term));
  const bool keeps =
      is_floating(like.dtype()) || (term.as<std::int64_t>() != nullptr && is_integer(like.dtype()));
  return scalar(term.value(), keeps ? like.dtype() : DType::f32);
}

}  // namespace tightloop::train::forward
