// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/forward/term.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::train::forward {

/// The arguments of a call in the order of the signature. Each reader throws Error with a caret at
/// the argument when it is of another kind.
class Call {
 public:
  Call(std::vector<std::string> names, std::vector<Term> terms, const Text& text)
      : names_(std::move(names)), terms_(std::move(terms)), text_(text) {}

  const Term& term(std::size_t i) const { return terms_[i]; }
  bool none(std::size_t i) const { return terms_[i].none(); }
  Tensor tensor(std::size_t i) const;
  /// Tensor or number; a number takes the dtype of argument `like`.
  Tensor tensor_like(std::size_t i, std::size_t like) const;
  std::vector<Tensor> tensors(std::size_t i) const;
  double number(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  bool flag(std::size_t i) const;
  std::string text(std::size_t i) const;
  std::vector<std::int64_t> integers(std::size_t i) const;  ///< one number counts as a list of one
  std::vector<std::int64_t> axes(std::size_t i) const;      ///< none: empty
  [[noreturn]] void refuse(std::size_t i, const std::string& wanted) const;

 private:
  std::vector<std::string> names_;
  std::vector<Term> terms_;
  const Text& text_;
};

/// A function of the forward text: its signature with the defaults of arguments that may be left out.
struct Function {
  std::string_view signature;  ///< "leaky_relu(x, negative_slope=0.01)"
  Tensor (*call)(const Call&);
  std::string_view name() const { return signature.substr(0, signature.find('(')); }
};

/// Every function of the forward text, in the order of docs/job.md.
std::span<const Function> all_functions();
const Function* find_function(std::string_view name);

/// Matches arguments to the signature (`dim` serves for axis and axes). `keywords[i]` names term i or is
/// empty. Throws Error with a caret at the argument, or at `at` where one is missing.
Call bind(const Function& function, std::vector<Term> terms, const std::vector<std::string>& keywords,
          std::size_t at, const Text& text);

}  // namespace tightloop::train::forward
