// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/forward/functions.h>
#include <tightloop/train/forward/parser.h>
#include <tightloop/train/forward/source.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::forward {
namespace {

struct Slot {
  std::string name;
  Term fallback;
  bool required = true;
};

Term constant(const Expr& e) {
  if (e.kind == ExprKind::string) return {e.text};
  if (e.kind == ExprKind::unary) {
    const Term inner = constant(*e.parts[0]);
    return inner.as<double>() != nullptr ? Term{-inner.value()} : Term{-std::get<std::int64_t>(inner.data)};
  }
  return std::visit([](auto v) { return Term{v}; }, e.value);
}

/// "leaky_relu(x, negative_slope=0.01)" → x, and negative_slope with its default.
std::vector<Slot> slots_of(const Function& function) {
  const Text text{std::string(function.signature), "signature", 0, 1};
  const ExprPtr call = parse_expression(text);
  std::vector<Slot> out;
  for (std::size_t i = 0; i < call->parts.size(); ++i) {
    const std::string& keyword = call->keywords[i];
    if (keyword.empty())
      out.push_back({call->parts[i]->text, {}, true});
    else
      out.push_back({keyword, constant(*call->parts[i]), false});
  }
  return out;
}

std::size_t position(const std::vector<Slot>& slots, const std::string& name) {
  const auto at = [&](const std::string& n) {
    return static_cast<std::size_t>(
        std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.name == n; }) - slots.begin());
  };
  const std::size_t found = at(name);
  return found == slots.size() && name == "dim" ? at("axis") : found;
}

}  // namespace

void Call::refuse(std::size_t i, const std::string& wanted) const {
  fail_at(text_, terms_[i].at, fmt::format("{} must be {}, not {}", names_[i], wanted, describe(terms_[i])));
}

Tensor Call::tensor(std::size_t i) const {
  if (const auto* t = terms_[i].as<Tensor>()) return *t;
  refuse(i, "a tensor");
}

Tensor Call::tensor_like(std::size_t i, std::size_t like) const {
  if (const auto* t = terms_[i].as<Tensor>()) return *t;
  if (!terms_[i].number() || terms_[like].as<Tensor>() == nullptr) refuse(i, "a tensor");
  return to_tensor(terms_[i], tensor(like), text_);
}

std::vector<Tensor> Call::tensors(std::size_t i) const {
  const auto* list = terms_[i].as<Term::List>();
  if (list == nullptr || list->empty()) refuse(i, "a list of tensors, at least one");
  std::vector<Tensor> out;
  for (const Term& t : *list) {
    if (t.as<Tensor>() == nullptr) fail_at(text_, t.at, "a tensor was expected here, not " + describe(t));
    out.push_back(*t.as<Tensor>());
  }
  return out;
}

double Call::number(std::size_t i) const {
  if (!terms_[i].number()) refuse(i, "a number");
  return terms_[i].value();
}

std::int64_t Call::integer(std::size_t i) const {
  if (const auto* v = terms_[i].as<std::int64_t>()) return *v;
  refuse(i, "a whole number");
}

bool Call::flag(std::size_t i) const {
  if (const auto* v = terms_[i].as<bool>()) return *v;
  refuse(i, "true or false");
}

std::string Call::text(std::size_t i) const {
  if (const auto* v = terms_[i].as<std::string>()) return *v;
  refuse(i, "a text");
}

std::vector<std::int64_t> Call::integers(std::size_t i) const {
  if (const auto* v = terms_[i].as<std::int64_t>()) return {*v};
  const auto* list = terms_[i].as<Term::List>();
  if (list == nullptr) refuse(i, "a list of whole numbers");
  std::vector<std::int64_t> out;
  for (const Term& t : *list) {
    const auto* v = t.as<std::int64_t>();
    if (v == nullptr) fail_at(text_, t.at, "a whole number was expected here, not " + describe(t));
    out.push_back(*v);
  }
  return out;
}

std::vector<std::int64_t> Call::axes(std::size_t i) const {
  return none(i) ? std::vector<std::int64_t>{} : integers(i);
}

Call bind(const Function& function, std::vector<Term> terms, const std::vector<std::string>& keywords,
          std::size_t at, const Text& text) {
  const std::vector<Slot> slots = slots_of(function);
  std::vector<Term> bound(slots.size());
  std::vector<bool> given(slots.size(), false);
  std::vector<std::string> names;
  for (const Slot& s : slots) names.push_back(s.name);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t to = keywords[i].empty() ? i : position(slots, keywords[i]);
    if (to >= slots.size() && !keywords[i].empty())
      fail_at(text, terms[i].at,
              fmt::format("{} has no argument {}{}; it is {}", function.name(), keywords[i],
                          suggestion(keywords[i], names), function.signature));
    if (to >= slots.size())
      fail_at(text, terms[i].at, fmt::format("too many arguments; it is {}", function.signature));
    if (given[to]) fail_at(text, terms[i].at, fmt::format("{} is given twice", slots[to].name));
    bound[to] = std::move(terms[i]);
    given[to] = true;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (given[i]) continue;
    if (slots[i].required)
      fail_at(text, at, fmt::format("{} is missing; it is {}", slots[i].name, function.signature));
    bound[i] = slots[i].fallback;
    bound[i].at = at;
  }
  return {std::move(names), std::move(bound), text};
}

}  // namespace tightloop::train::forward
