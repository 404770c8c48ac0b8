// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/forward/lexer.h>
#include <tightloop/train/forward/source.h>

#include <string_view>

namespace tightloop::train::forward {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  explicit Lexer(const Text& source) : source_(source), text_(source.text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    if (!brackets_.empty()) fail_at(source_, brackets_.back(), "this bracket is never closed");
    tokens_.push_back({TokenKind::newline, "", text_.size()});
    tokens_.push_back({TokenKind::end, "", text_.size()});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r')
      ++at_;
    else if (c == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == '\n' || c == ';')
      newline();
    else if (is_letter(c))
      name();
    else if (is_digit(c) || (c == '.' && is_digit(peek(1))))
      number();
    else if (c == '"' || c == '\'')
      string(c);
    else
      symbol();
  }

  void newline() {
    if (brackets_.empty())
      tokens_.push_back({TokenKind::newline, "", at_});
    else if (peek() == ';')
      fail_at(source_, at_, "';' inside a bracket");
    ++at_;
  }

  void push(TokenKind kind, std::size_t start) {
    tokens_.push_back({kind, std::string(text_.substr(start, at_ - start)), start});
  }

  void name() {
    const std::size_t start = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    push(TokenKind::name, start);
  }

  void digits() {
    while (is_digit(peek())) ++at_;
  }

  void number() {
    const std::size_t start = at_;
    digits();
    if (peek() == '.') ++at_, digits();
    const bool sign = peek(1) == '-' || peek(1) == '+';
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign ? 2 : 1))) at_ += sign ? 2 : 1, digits();
    if (is_letter(peek())) fail_at(source_, at_, "a number runs into a name; put an operator between");
    push(TokenKind::number, start);
  }

  void string(char quote) {
    const std::size_t start = at_++;
    std::string out;
    for (; peek() != quote; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') fail_at(source_, start, "this string is never closed");
      if (peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      out += peek();
    }
    ++at_;
    tokens_.push_back({TokenKind::string, std::move(out), start});
  }

  void bracket(char c) {
    if (c == '(' || c == '[') {
      brackets_.push_back(at_);
      return;
    }
    const char opening = c == ')' ? '(' : '[';
    if (brackets_.empty()) fail_at(source_, at_, std::string("'") + c + "' closes nothing");
    if (text_[brackets_.back()] != opening)
      fail_at(source_, at_, std::string("'") + c + "' closes another kind of bracket");
    brackets_.pop_back();
  }

  void symbol() {
    static constexpr std::string_view kLong[] = {"...", "**", "//", "==", "!=", "<=", ">="};
    const std::size_t start = at_;
    for (const auto s : kLong)
      if (text_.substr(at_).starts_with(s)) {
        at_ += s.size();
        return push(TokenKind::symbol, start);
      }
    const char c = peek();
    if (std::string_view("+-*/@%<>=(),[]:.").find(c) == std::string_view::npos)
      fail_at(source_, at_, "this character means nothing here");
    if (std::string_view("()[]").find(c) != std::string_view::npos) bracket(c);
    ++at_;
    push(TokenKind::symbol, start);
  }

  const Text& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> brackets_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const Text& text) { return Lexer(text).run(); }

}  // namespace tightloop::train::forward
