// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ir/literal.h>
#include <tightloop/ir/node.h>
#include <tightloop/ir/text.h>

#include <charconv>
#include <limits>

namespace tightloop::ir {
namespace {

[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& what) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  throw Error("graph text, line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
              what);
}

/// The characters and tokens of the text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const { fail(text_, at, what); }
  [[noreturn]] void fail_here(const std::string& what) const { fail(text_, at_, what); }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_here(std::string("expected '") + c + "'");
  }
  /// Letters, digits, `_`, `.`, `-`, `+`; possibly empty.
  std::string_view word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string name() {
    if (peek('"')) return string();
    const std::size_t start = position();
    const std::string_view w = word();
    if (!is_plain_name(w)) fail_at(start, "expected a name");
    return std::string(w);
  }
  std::string string() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') out += text_[at_] == '\\' ? escaped() : text_[at_++];
    if (at_ == text_.size()) fail_here("the string does not end");
    ++at_;
    return out;
  }
  std::int64_t integer() {
    skip_space();
    const std::size_t start = at_;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) fail_at(start, "the integer does not fit 64 bits");
    if (code != std::errc()) fail_at(start, "expected an integer");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  /// What follows `#` up to the end of the line, when the line goes on with one.
  std::string comment() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (at_ == text_.size() || text_[at_] != '#') return "";
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    while (!body.empty() && is_space(body.front())) body.remove_prefix(1);
    while (!body.empty() && is_space(body.back())) body.remove_suffix(1);
    return std::string(body);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
  }
  char escaped() {
    if (at_ + 1 >= text_.size()) fail_here("the string does not end");
    const char kind = text_[at_ + 1];
    if (kind == '"' || kind == '\\') return at_ += 2, kind;
    unsigned byte = 0;
    if (kind != 'x' || at_ + 4 > text_.size()) fail_here("unknown escape");
    const char* digits = text_.data() + at_ + 2;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) fail_here("unknown escape");
    at_ += 4;
    return static_cast<char>(byte);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, OpLookup lookup) : in_(text), lookup_(lookup) {}

  Graph run() {
    keyword("graph");
    graph_.name = in_.name();
    in_.expect('{');
    while (in_.peek('%')) node();
    keyword("return");
    if (!in_.peek('}')) outputs();
    in_.expect('}');
    if (!in_.at_end()) in_.fail_here("nothing may follow the graph");
    return std::move(graph_);
  }

 private:
  void keyword(std::string_view wanted) {
    in_.skip_space();
    const std::size_t start = in_.position();
    if (in_.word() != wanted) in_.fail_at(start, "expected '" + std::string(wanted) + "'");
  }

  Tensor reference() {
    in_.expect('%');
    const std::size_t start = in_.position();
    const auto found = values_.find(in_.integer());
    if (found == values_.end()) in_.fail_at(start, "this value is not defined above");
    return found->second;
  }

  Dim dim() {
    in_.skip_space();
    const std::size_t start = in_.position();
    std::int64_t factor = 1;
    if (!in_.peek('B') && !in_.peek('N')) factor = in_.integer();
    if (factor < 0) in_.fail_at(start, "a dim cannot be negative");
    if (in_.take('B')) return Dim::batch(factor);
    if (in_.take('N')) return Dim::rows(factor);
    return factor;
  }

  TensorType type() {
    in_.skip_space();
    const std::size_t start = in_.position();
    const auto dtype = dtype_from_name(in_.word());
    if (!dtype) in_.fail_at(start, "expected a dtype");
    std::vector<Dim> dims;
    in_.expect('[');
    while (!in_.peek(']')) {
      if (!dims.empty()) in_.expect(',');
      dims.push_back(dim());
      if (dims.size() > kMaxRank) in_.fail_at(start, "rank over the limit of " + std::to_string(kMaxRank));
    }
    in_.expect(']');
    return {*dtype, Shape(std::move(dims))};
  }

  Ints integers() {
    Ints out;
    in_.expect('[');
    while (!in_.peek(']')) {
      if (!out.empty()) in_.expect(',');
      out.push_back(in_.integer());
    }
    in_.expect(']');
    return out;
  }

  AttrValue number(std::string_view word, std::size_t start) {
    const char* const end = word.data() + word.size();
    std::int64_t whole = 0;
    if (const auto r = std::from_chars(word.data(), end, whole);
        r.ec == std::errc() && r.ptr == end && word != "-0")
      return whole;
    double real = 0;
    const auto r = std::from_chars(word.data(), end, real);
    if (r.ec == std::errc::result_out_of_range) in_.fail_at(start, "the number does not fit a double");
    if (r.ec != std::errc() || r.ptr != end) in_.fail_at(start, "expected a value");
    return real;
  }

  AttrValue attribute() {
    if (in_.peek('"')) return in_.string();
    if (in_.peek('[')) return integers();
    in_.skip_space();
    const std::size_t start = in_.position();
    const std::string_view word = in_.word();
    if (word == "true") return true;
    if (word == "false") return false;
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (const auto dtype = dtype_from_name(word)) return *dtype;
    return number(word, start);
  }

  Attrs attributes() {
    Attrs out;
    if (!in_.take('{')) return out;
    do {
      std::string name = in_.name();
      in_.expect('=');
      out.set(std::move(name), attribute());
    } while (in_.take(','));
    in_.expect('}');
    return out;
  }

  const OpDef& op() {
    in_.skip_space();
    const std::size_t start = in_.position();
    const std::string_view word = in_.word();
    const OpDef* found = lookup_(word);
    if (found == nullptr) in_.fail_at(start, "unknown op '" + std::string(word) + "'");
    if (found == &literal_op())
      in_.fail_at(start, "a literal's data is not part of the text; make it an input");
    return *found;
  }

  std::vector<Tensor> arguments() {
    std::vector<Tensor> out;
    in_.expect('(');
    while (!in_.peek(')')) {
      if (!out.empty()) in_.expect(',');
      out.push_back(reference());
    }
    in_.expect(')');
    return out;
  }

  void node() {
    in_.expect('%');
    const std::size_t start = in_.position();
    const std::int64_t number = in_.integer();
    in_.expect(':');
    const TensorType declared = type();
    in_.expect('=');
    const OpDef& def = op();
    std::vector<Tensor> inputs = arguments();
    Attrs attrs = attributes();
    Tensor made;
    try {
      made = make_node_at(in_.comment(), def, std::move(inputs), std::move(attrs),
                          def.typed ? &declared : nullptr);
    } catch (const Error& e) {
      in_.fail_at(start, e.what());
    }
    if (made.type() != declared)
      in_.fail_at(
          start, std::string(def.name) + " gives " + to_string(made.type()) + ", not " + to_string(declared));
    define(number, made, start);
  }

  void define(std::int64_t number, const Tensor& made, std::size_t start) {
    if (!values_.emplace(number, made).second)
      in_.fail_at(start, "%" + std::to_string(number) + " is defined twice");
    if (made.node().op->name != "input") return;
    if (graph_.input(input_name(made.node())) != nullptr)
      in_.fail_at(start, "two inputs are named '" + input_name(made.node()) + "'");
    graph_.inputs.push_back(made);
  }

  void outputs() {
    do {
      in_.skip_space();
      const std::size_t start = in_.position();
      std::string name = in_.name();
      if (graph_.output(name) != nullptr) in_.fail_at(start, "two outputs are named '" + name + "'");
      in_.expect('=');
      graph_.outputs.push_back({std::move(name), reference()});
    } while (in_.take(','));
  }

  Reader in_;
  OpLookup lookup_;
  Graph graph_;
  std::unordered_map<std::int64_t, Tensor> values_;
};

}  // namespace

Graph parse(std::string_view text, OpLookup lookup) { return Parser(text, lookup).run(); }

}  // namespace tightloop::ir
