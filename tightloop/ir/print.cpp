// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ir/text.h>

#include <charconv>
#include <cmath>

namespace tightloop::ir {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

struct AttrPrinter {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(DType v) const { return std::string(name(v)); }
  std::string operator()(const Ints& v) const {
    std::string out = "[";
    for (std::size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + std::to_string(v[i]);
    return out + "]";
  }
};

using Numbers = std::unordered_map<const Node*, std::size_t>;

std::string attrs_text(const Attrs& attrs) {
  if (attrs.empty()) return "";
  std::string out = " {";
  for (const auto& [name, value] : attrs) out += (out.size() > 2 ? ", " : "") + name + "=" + attr_text(value);
  return out + "}";
}

/// On one line and without spaces at its ends, as the parser reads it.
std::string scope_text(std::string scope) {
  for (char& c : scope)
    if (is_control(c)) c = ' ';
  const std::size_t first = scope.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return "  # " + scope.substr(first, scope.find_last_not_of(' ') + 1 - first);
}

std::string line(const Node& node, std::size_t number, const Numbers& numbers) {
  std::string out = "  %" + std::to_string(number) + ": " + to_string(node.type) + " = ";
  out += node.op->name;
  out += '(';
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    out += (i ? ", %" : "%") + std::to_string(numbers.at(node.inputs[i].id()));
  return out + ")" + attrs_text(node.attrs) + scope_text(node.scope) + "\n";
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

std::string quoted(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text)
    if (!is_name_char(c)) return false;
  return true;
}

std::string name_text(std::string_view text) {
  return is_plain_name(text) ? std::string(text) : quoted(text);
}

std::string attr_text(const AttrValue& value) { return std::visit(AttrPrinter{}, value); }

std::string print(const Graph& graph) {
  Numbers numbers;
  std::string out = "graph " + name_text(graph.name) + " {\n";
  for (const Node* node : topological(graph)) {
    const std::size_t number = numbers.size();
    numbers.emplace(node, number);
    out += line(*node, number, numbers);
  }
  out += "  return";
  const char* separator = " ";
  for (const auto& o : graph.outputs) {
    out += separator + name_text(o.name) + "=%" + std::to_string(numbers.at(o.value.id()));
    separator = ", ";
  }
  return out + "\n}\n";
}

}  // namespace tightloop::ir
