// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/autocast.h>
#include <tightloop/ops/functions.h>
#include <tightloop/train/forward/functions.h>
#include <tightloop/train/forward/source.h>
#include <tightloop/train/forward/trace.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace tightloop::train::forward {
namespace {

/// An error that already names its place.
struct Placed : Error {
  using Error::Error;
};

bool is_layer_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

class Tracer {
 public:
  Tracer(const Text& text, const Names& inputs, const Names& parameters, Layers& layers)
      : text_(text), layers_(layers) {
    for (const auto& [name, tensor] : inputs) names_[name] = Term{tensor};
    for (const auto& [name, tensor] : parameters) names_[name] = Term{tensor}, fixed_.insert(name);
  }

  Tensor run(const std::vector<Statement>& program) {
    for (const Statement& s : program) {
      if (fixed_.contains(s.name))
        fail(s.at, fmt::format("{} is a parameter; give the result another name", s.name));
      if (find_function(s.name) != nullptr || layers_.knows(s.name))
        fail(s.at, fmt::format("{} is the name of a function; give the result another name", s.name));
      names_[s.name] = evaluate(*s.value);
    }
    const Statement& last = program.back();
    const Term& result = names_[last.name];
    if (result.as<Tensor>() == nullptr)
      fail(last.at, fmt::format("the last statement is the model's output and must be a tensor, not {}",
                                describe(result)));
    return *result.as<Tensor>();
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& problem) const {
    try {
      fail_at(text_, at, problem);
    } catch (const Error& e) {
      throw Placed(e.what());
    }
  }

  /// Runs `f`; an error that names no place yet gets this one.
  template <class F>
  auto placed(std::size_t at, F f) const {
    try {
      return f();
    } catch (const Placed&) {
      throw;
    } catch (const Error& e) {
      const std::string what = e.what();
      if (what.find("\n  ") != std::string::npos) throw Placed(what);
      fail(at, what);
    }
  }

  Term evaluate(const Expr& e) {
    Term out = value_of(e);
    out.at = e.at;
    return out;
  }

  Term value_of(const Expr& e) {
    switch (e.kind) {
      case ExprKind::none:
        return {};
      case ExprKind::boolean:
        return {std::get<bool>(e.value)};
      case ExprKind::integer:
        return {std::get<std::int64_t>(e.value)};
      case ExprKind::number:
        return {std::get<double>(e.value)};
      case ExprKind::string:
        return {e.text};
      case ExprKind::name:
        return name(e);
      case ExprKind::list:
        return {list(e.parts)};
      case ExprKind::call:
        return call(e);
      case ExprKind::unary:
        return negative(e);
      case ExprKind::binary:
        return binary(e);
      case ExprKind::index:
        return index(e);
      case ExprKind::slice:
      case ExprKind::ellipsis:
        break;
    }
    throw InternalError("internal error: forward text: expression out of place");
  }

  Term name(const Expr& e) const {
    const auto found = names_.find(e.text);
    if (found != names_.end()) return found->second;
    if (find_function(e.text) != nullptr || layers_.knows(e.text))
      fail(e.at, fmt::format("{} is a function; call it: {}(…)", e.text, e.text));
    std::vector<std::string> known;
    for (const auto& [n, term] : names_) known.push_back(n);
    std::string hint = suggestion(e.text, known);
    if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(known, ", "));
    fail(e.at, fmt::format("unknown name '{}'{}", e.text, hint));
  }

  Term::List list(const std::vector<ExprPtr>& parts) {
    Term::List out;
    for (const auto& p : parts) out.push_back(evaluate(*p));
    return out;
  }

  Term call(const Expr& e) {
    const Function* function = find_function(e.text);
    if (function == nullptr && !layers_.knows(e.text)) unknown_function(e);
    std::optional<InF32> region;
    if (e.text == "f32") region.emplace();
    Term::List terms = list(e.parts);
    if (function == nullptr) return layer(e, std::move(terms));
    return placed(e.at, [&] {
      return Term{function->call(bind(*function, std::move(terms), e.keywords, e.at, text_))};
    });
  }

  [[noreturn]] void unknown_function(const Expr& e) const {
    if (names_.contains(e.text)) fail(e.at, fmt::format("{} is a value and cannot be called", e.text));
    std::vector<std::string> known = layers_.kinds();
    for (const Function& f : all_functions()) known.emplace_back(f.name());
    fail(e.at, fmt::format("unknown function '{}'{}", e.text, suggestion(e.text, known)));
  }

  Term layer(const Expr& e, Term::List terms) {
    std::vector<std::string> keywords = e.keywords;
    const auto reused = std::find(keywords.begin(), keywords.end(), "reuse");
    if (reused != keywords.end()) {
      const auto i = static_cast<std::size_t>(reused - keywords.begin());
      if (kind_of_earlier(terms[i]) == e.text) return once_more(e, terms, i);
    }
    const std::string name = name_of(e, terms, keywords);
    if (fixed_.contains(name) || !used_.emplace(name, e.text).second)
      fail(e.at, fmt::format("the name '{}' is taken; give this layer another by name=", name));
    return placed(e.at, [&] { return Term{layers_.call(e.text, name, terms, keywords, e.at)}; });
  }

  /// What name= says, which is taken out of the arguments, or the kind and its next number.
  std::string name_of(const Expr& e, Term::List& terms, std::vector<std::string>& keywords) {
    const auto named = std::find(keywords.begin(), keywords.end(), "name");
    if (named == keywords.end()) return fmt::format("{}{}", e.text, counts_[e.text]++);
    const auto i = named - keywords.begin();
    const Term given = terms[static_cast<std::size_t>(i)];
    if (given.as<std::string>() == nullptr || !is_layer_name(*given.as<std::string>()))
      fail(given.at, fmt::format("name must be a text of letters, digits and _, not {}", describe(given)));
    terms.erase(terms.begin() + i);
    keywords.erase(named);
    return *given.as<std::string>();
  }

  const std::string& kind_of_earlier(const Term& reuse) const {
    const auto* name = reuse.as<std::string>();
    if (name == nullptr)
      fail(reuse.at, fmt::format("reuse must be the name of an earlier layer, not {}", describe(reuse)));
    const auto found = used_.find(*name);
    if (found != used_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [n, kind] : used_) known.push_back(n);
    fail(reuse.at, fmt::format("there is no layer '{}' before this{}", *name, suggestion(*name, known)));
  }

  /// The layer that argument `reuse` names, on other tensors.
  Term once_more(const Expr& e, Term::List terms, std::size_t reuse) {
    const std::string name = *terms[reuse].as<std::string>();
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (i != reuse && (!e.keywords[i].empty() || terms[i].as<Tensor>() == nullptr))
        fail(terms[i].at,
             fmt::format("a layer that is used once more takes tensors only; its name and options "
                         "are those of '{}'",
                         name));
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(reuse));
    const std::vector<std::string> keywords(terms.size());
    return placed(e.at, [&] { return Term{layers_.call(e.text, name, terms, keywords, e.at)}; });
  }

  Term negative(const Expr& e) {
    const Term x = evaluate(*e.parts[0]);
    if (const auto* i = x.as<std::int64_t>()) return whole_numbers({.at = e.at, .text = "-"}, 0, *i);
    if (const auto* d = x.as<double>()) return {-*d};
    if (const auto* t = x.as<Tensor>()) return placed(e.at, [&] { return Term{neg(*t)}; });
    fail(x.at, fmt::format("a tensor or a number was expected here, not {}", describe(x)));
  }

  Term binary(const Expr& e) {
    const Term a = evaluate(*e.parts[0]);
    const Term b = evaluate(*e.parts[1]);
    for (const Term* t : {&a, &b})
      if (!t->number() && t->as<Tensor>() == nullptr)
        fail(t->at, fmt::format("a tensor or a number was expected here, not {}", describe(*t)));
    if (a.number() && b.number()) return numbers(e, a, b);
    return placed(e.at, [&] { return Term{tensors(e.text, a, b)}; });
  }

  Tensor tensors(const std::string& op, const Term& a, const Term& b) const {
    const Tensor* x = a.as<Tensor>();
    const Tensor* y = b.as<Tensor>();
    if (op == "@" && (x == nullptr || y == nullptr)) throw Error("@ multiplies matrices; for numbers use *");
    if (op == "**" && y == nullptr && b.value() == 2) return square(*x);
    const Tensor left = x != nullptr ? *x : to_tensor(a, *y, text_);
    const Tensor right = y != nullptr ? *y : to_tensor(b, *x, text_);
    if (op == "+") return add(left, right);
    if (op == "-") return sub(left, right);
    if (op == "*") return mul(left, right);
    if (op == "/") return div(left, right);
    if (op == "//") return floor_div(left, right);
    if (op == "%") return remainder(left, right);
    if (op == "@") return matmul(left, right);
    if (op == "**") return pow(left, right);
    if (op == "==") return equal(left, right);
    if (op == "!=") return not_equal(left, right);
    if (op == "<") return less(left, right);
    if (op == "<=") return less_equal(left, right);
    if (op == ">") return greater(left, right);
    return greater_equal(left, right);
  }

  Term numbers(const Expr& e, const Term& a, const Term& b) const {
    const auto* i = a.as<std::int64_t>();
    const auto* j = b.as<std::int64_t>();
    const std::string& op = e.text;
    if (i != nullptr && j != nullptr && op != "/" && op != "**") return whole_numbers(e, *i, *j);
    const double x = a.value(), y = b.value();
    if ((op == "/" || op == "//" || op == "%") && y == 0) fail(e.at, "division by zero");
    if (op == "+") return {x + y};
    if (op == "-") return {x - y};
    if (op == "*") return {x * y};
    if (op == "/") return {x / y};
    if (op == "//") return {std::floor(x / y)};
    if (op == "%") return {x - y * std::floor(x / y)};
    if (op == "**") return power(x, y, i != nullptr && j != nullptr && *j >= 0);
    fail(e.at, fmt::format("{} does not work on two numbers", op));
  }

  static Term power(double x, double y, bool whole) {
    const double p = std::pow(x, y);
    if (whole && std::fabs(p) < 0x1p53) return {static_cast<std::int64_t>(p)};
    return {p};
  }

  Term whole_numbers(const Expr& e, std::int64_t i, std::int64_t j) const {
    const std::string& op = e.text;
    std::int64_t out = 0;
    bool over = false;
    if (op == "+")
      over = __builtin_add_overflow(i, j, &out);
    else if (op == "-")
      over = __builtin_sub_overflow(i, j, &out);
    else if (op == "*")
      over = __builtin_mul_overflow(i, j, &out);
    else if (op == "//" || op == "%")
      out = divided(e, i, j);
    else
      fail(e.at, fmt::format("{} does not work on two numbers", op));
    if (over) fail(e.at, "this whole number is too large");
    return {out};
  }

  std::int64_t divided(const Expr& e, std::int64_t i, std::int64_t j) const {
    if (j == 0) fail(e.at, "division by zero");
    if (j == -1) return e.text == "//" ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(i)) : 0;
    const std::int64_t quotient = i / j - (i % j != 0 && (i < 0) != (j < 0) ? 1 : 0);
    return e.text == "//" ? quotient : i - quotient * j;
  }

  Term index(const Expr& e) {
    const Term base = evaluate(*e.parts[0]);
    if (const auto* items = base.as<Term::List>()) return item(e, *items);
    if (base.as<Tensor>() == nullptr) fail(e.at, fmt::format("{} cannot be indexed", describe(base)));
    Tensor x = *base.as<Tensor>();
    std::int64_t axis = 0;
    for (std::size_t i = 1; i < e.parts.size(); ++i) {
      const Expr& part = *e.parts[i];
      if (part.kind == ExprKind::ellipsis)
        axis = after_ellipsis(e, i, x, axis);
      else
        x = placed(part.at, [&] { return subscripted(x, part, axis); });
    }
    return {x};
  }

  Term item(const Expr& e, const Term::List& items) {
    const std::int64_t at = integer(*e.parts[1]);
    const auto size = static_cast<std::int64_t>(items.size());
    if (e.parts.size() != 2 || at < -size || at >= size)
      fail(e.at, fmt::format("the list has {} items", size));
    return items[static_cast<std::size_t>(at < 0 ? at + size : at)];
  }

  /// The axis that the subscripts behind `...` start at.
  std::int64_t after_ellipsis(const Expr& e, std::size_t at, const Tensor& x, std::int64_t axis) const {
    std::int64_t behind = 0;
    for (std::size_t i = at + 1; i < e.parts.size(); ++i) {
      if (e.parts[i]->kind == ExprKind::ellipsis) fail(e.parts[i]->at, "only one ... may stand in an index");
      behind += e.parts[i]->kind == ExprKind::none ? 0 : 1;
    }
    return std::max(axis, static_cast<std::int64_t>(x.rank()) - behind);
  }

  Tensor subscripted(const Tensor& x, const Expr& part, std::int64_t& axis) {
    if (part.kind == ExprKind::none) return unsqueeze(x, axis++);
    if (axis >= static_cast<std::int64_t>(x.rank()))
      throw Error(fmt::format("too many indices for {}", to_string(x.type())));
    const Dim& dim = x.dim(static_cast<std::size_t>(axis));
    if (part.kind == ExprKind::slice && part.parts[0] == nullptr && part.parts[1] == nullptr &&
        part.parts[2] == nullptr)
      return ++axis, x;
    if (!dim.is_static()) throw Error("the batch axis cannot be cut; write : for it, as in x[:, 0]");
    if (part.kind == ExprKind::slice) {
      const std::int64_t start = integer_or(part.parts[0], 0), stop = integer_or(part.parts[1], dim.factor);
      return slice(x, axis++, start, std::min(stop, dim.factor), integer_or(part.parts[2], 1));
    }
    const std::int64_t i = integer(part);
    if (i < -dim.factor || i >= dim.factor)
      throw Error(fmt::format("index {} is outside axis {} of {}", i, axis, to_string(x.type())));
    const std::int64_t start = i < 0 ? i + dim.factor : i;
    return squeeze(slice(x, axis, start, start + 1, 1), axis);
  }

  std::int64_t integer_or(const ExprPtr& e, std::int64_t fallback) {
    return e == nullptr ? fallback : integer(*e);
  }

  std::int64_t integer(const Expr& e) {
    const Term t = evaluate(e);
    if (const auto* i = t.as<std::int64_t>()) return *i;
    fail(e.at, fmt::format("an index is a whole number, not {}", describe(t)));
  }

  const Text& text_;
  Layers& layers_;
  std::map<std::string, Term> names_;
  std::set<std::string> fixed_;
  std::map<std::string, std::string> used_;  ///< layers so far: name → kind
  std::map<std::string, int> counts_;
};

}  // namespace

Tensor trace(const std::vector<Statement>& program, const Text& text, const Names& inputs,
             const Names& parameters, Layers& layers) {
  return Tracer(text, inputs, parameters, layers).run(program);
}

}  // namespace tightloop::train::forward
