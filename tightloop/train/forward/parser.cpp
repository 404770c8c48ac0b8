// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/forward/lexer.h>
#include <tightloop/train/forward/parser.h>
#include <tightloop/train/forward/source.h>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

namespace tightloop::train::forward {
namespace {

int precedence(const Token& token) {
  if (token.kind != TokenKind::symbol) return 0;
  const std::string& s = token.text;
  if (s == "==" || s == "!=" || s == "<" || s == "<=" || s == ">" || s == ">=") return 1;
  if (s == "+" || s == "-") return 2;
  if (s == "*" || s == "/" || s == "@" || s == "%" || s == "//") return 3;
  return 0;
}

class Parser {
 public:
  explicit Parser(const Text& source) : source_(source), tokens_(tokenize(source)) {}

  std::vector<Statement> program() {
    std::vector<Statement> out;
    while (true) {
      while (here().kind == TokenKind::newline) ++next_;
      if (here().kind == TokenKind::end) break;
      out.push_back(statement());
    }
    if (out.empty()) fail_at(source_, 0, "the forward text has no statement; write y = linear(x, 1)");
    return out;
  }

  ExprPtr alone() {
    ExprPtr e = expression();
    if (here().kind != TokenKind::newline) fail("an operator or the end of the line was expected");
    return e;
  }

 private:
  const Token& here() const { return tokens_[next_]; }
  bool is(const char* symbol) const { return here().kind == TokenKind::symbol && here().text == symbol; }
  bool take(const char* symbol) {
    const bool found = is(symbol);
    next_ += found ? 1 : 0;
    return found;
  }
  [[noreturn]] void fail(const std::string& problem) const { fail_at(source_, here().at, problem); }
  void expect(const char* symbol) {
    if (!take(symbol)) fail(fmt::format("'{}' was expected", symbol));
  }

  Statement statement() {
    if (here().kind != TokenKind::name || tokens_[next_ + 1].text != "=" ||
        tokens_[next_ + 1].kind != TokenKind::symbol)
      fail("a statement `name = expression` was expected");
    if (word(here())->kind != ExprKind::name)
      fail(fmt::format("{} is a value; give the result another name", here().text));
    Statement out{here().text, here().at, nullptr};
    next_ += 2;
    out.value = alone();
    return out;
  }

  ExprPtr make(ExprKind kind, std::size_t at, std::string text, std::vector<ExprPtr> parts,
               std::vector<std::string> keywords = {}) const {
    int depth = 0;
    for (const auto& p : parts) depth = std::max(depth, p == nullptr ? 0 : p->depth);
    if (depth + 1 > kMaxDepth)
      fail_at(source_, at, "the expression is nested too deep; give a part a name of its own");
    Expr e{kind, at, std::move(text), {}, std::move(parts), std::move(keywords), depth + 1};
    return std::make_unique<const Expr>(std::move(e));
  }

  template <class... Parts>
  ExprPtr combine(ExprKind kind, std::size_t at, std::string text, Parts... part) const {
    std::vector<ExprPtr> parts;
    (parts.push_back(std::move(part)), ...);
    return make(kind, at, std::move(text), std::move(parts));
  }

  ExprPtr expression() {
    struct Deeper {
      int& level;
      ~Deeper() { --level; }
    } deeper{++nesting_};
    if (nesting_ > kMaxDepth) fail("the expression is nested too deep; give a part a name of its own");
    return operation(1);
  }

  ExprPtr operation(int lowest) {
    ExprPtr left = lowest > 3 ? unary() : operation(lowest + 1);
    for (int compared = 0; precedence(here()) == lowest; ++compared) {
      if (lowest == 1 && compared > 0) fail("comparisons cannot be chained; use logical_and(a < b, b < c)");
      const Token op = here();
      ++next_;
      ExprPtr right = lowest == 3 ? unary() : operation(lowest + 1);
      left = combine(ExprKind::binary, op.at, op.text, std::move(left), std::move(right));
    }
    return left;
  }

  ExprPtr unary() {
    std::vector<Token> signs;
    while (is("-") || is("+")) signs.push_back(here()), ++next_;
    ExprPtr e = power();
    for (; !signs.empty(); signs.pop_back())
      if (signs.back().text == "-") e = combine(ExprKind::unary, signs.back().at, "-", std::move(e));
    return e;
  }

  ExprPtr power() {
    ExprPtr base = postfix();
    if (!is("**")) return base;
    const std::size_t at = here().at;
    ++next_;
    struct Deeper {
      int& level;
      ~Deeper() { --level; }
    } deeper{++nesting_};
    if (nesting_ > kMaxDepth) fail("the expression is nested too deep; give a part a name of its own");
    return combine(ExprKind::binary, at, "**", std::move(base), unary());
  }

  ExprPtr postfix() {
    ExprPtr e = atom();
    while (true) {
      const std::size_t at = here().at;
      if (is("(")) {
        if (e->kind != ExprKind::name) fail("only a name can be called");
        e = call(*e);
      } else if (take("[")) {
        e = index(std::move(e), at);
      } else if (is(".")) {
        fail("there are no methods here; write f(x) in place of x.f()");
      } else {
        return e;
      }
    }
  }

  ExprPtr call(const Expr& function) {
    expect("(");
    std::vector<ExprPtr> parts;
    std::vector<std::string> keywords;
    while (!take(")")) {
      const bool keyword = here().kind == TokenKind::name && tokens_[next_ + 1].kind == TokenKind::symbol &&
                           tokens_[next_ + 1].text == "=";
      if (!keyword && !keywords.empty() && !keywords.back().empty())
        fail("an argument without a name follows one with a name");
      if (keyword && std::find(keywords.begin(), keywords.end(), here().text) != keywords.end())
        fail(fmt::format("the argument {} is given twice", here().text));
      keywords.push_back(keyword ? here().text : "");
      next_ += keyword ? 2 : 0;
      parts.push_back(expression());
      if (!is(")")) expect(",");
    }
    return make(ExprKind::call, function.at, function.text, std::move(parts), std::move(keywords));
  }

  ExprPtr index(ExprPtr base, std::size_t at) {
    std::vector<ExprPtr> parts;
    parts.push_back(std::move(base));
    while (!take("]")) {
      parts.push_back(subscript());
      if (!is("]")) expect(",");
    }
    if (parts.size() == 1) fail_at(source_, at, "an index is missing between [ and ]");
    return make(ExprKind::index, at, "", std::move(parts));
  }

  ExprPtr subscript() {
    const std::size_t at = here().at;
    if (take("...")) return combine(ExprKind::ellipsis, at, "");
    ExprPtr bounds[3];
    int n = 0;
    while (true) {
      if (!is(":") && !is(",") && !is("]")) bounds[n] = expression();
      if (n == 2 || !is(":")) break;
      ++n, ++next_;
    }
    if (n == 0 && bounds[0] == nullptr) fail("an index is missing");
    if (n == 0) return std::move(bounds[0]);
    return combine(ExprKind::slice, at, "", std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2]));
  }

  ExprPtr atom() {
    const Token token = here();
    if (token.kind == TokenKind::number) return number();
    if (token.kind == TokenKind::string) return ++next_, combine(ExprKind::string, token.at, token.text);
    if (token.kind == TokenKind::name) return ++next_, word(token);
    if (take("[")) return list(token.at, "]", false);
    if (take("(")) return list(token.at, ")", true);
    if (token.kind == TokenKind::newline || token.kind == TokenKind::end) fail("an expression is missing");
    fail(fmt::format("an expression was expected, not '{}'", token.text));
  }

  ExprPtr constant(ExprKind kind, std::size_t at,
                   std::variant<std::monostate, bool, std::int64_t, double> v) const {
    return std::make_unique<const Expr>(Expr{kind, at, {}, v});
  }

  ExprPtr word(const Token& token) const {
    const std::string& w = token.text;
    if (w == "true" || w == "True") return constant(ExprKind::boolean, token.at, true);
    if (w == "false" || w == "False") return constant(ExprKind::boolean, token.at, false);
    if (w == "none" || w == "None") return constant(ExprKind::none, token.at, {});
    return combine(ExprKind::name, token.at, w);
  }

  ExprPtr number() {
    const Token token = here();
    const char* first = token.text.data();
    const char* last = first + token.text.size();
    ++next_;
    if (token.text.find_first_of(".eE") == std::string::npos) {
      std::int64_t i = 0;
      if (std::from_chars(first, last, i).ec != std::errc())
        fail_at(source_, token.at, "this whole number is too large");
      return constant(ExprKind::integer, token.at, i);
    }
    double d = 0;
    if (std::from_chars(first, last, d).ec != std::errc())
      fail_at(source_, token.at, "this number is out of range");
    return constant(ExprKind::number, token.at, d);
  }

  /// After the opening bracket. Parentheses around one expression without a comma are that expression.
  ExprPtr list(std::size_t at, const char* closing, bool parentheses) {
    std::vector<ExprPtr> parts;
    bool comma = false;
    while (!take(closing)) {
      parts.push_back(expression());
      if (is(closing)) continue;
      expect(",");
      comma = true;
    }
    if (parentheses && parts.size() == 1 && !comma) return std::move(parts[0]);
    return make(ExprKind::list, at, "", std::move(parts));
  }

  const Text& source_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int nesting_ = 0;
};

}  // namespace

std::vector<Statement> parse(const Text& text) { return Parser(text).program(); }

ExprPtr parse_expression(const Text& text) { return Parser(text).alone(); }

}  // namespace tightloop::train::forward
