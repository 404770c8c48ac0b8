// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/toml.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace tightloop::train {
namespace {

/// What conversion needs to place a value: the document's text and name.
struct Source {
  std::string_view text;
  std::string name;
  bool positions = true;
};

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// toml++ counts columns in code points; this finds the byte.
std::size_t byte_of_column(std::string_view line, int column) {
  std::size_t i = 0;
  for (int c = 1; c < column && i < line.size(); ++c) {
    ++i;
    while (i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80) ++i;
  }
  return i;
}

/// Where the text inside the quotes of a string value starts.
void place_text(Value& value, const toml::source_region& region, const Source& source) {
  value.line = static_cast<int>(region.begin.line);
  value.column = static_cast<int>(region.begin.column);
  const std::string_view line = line_of(source.text, value.line);
  const std::string_view rest = line.substr(std::min(line.size(), byte_of_column(line, value.column)));
  if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
    const bool breaks = rest.size() == 3 || rest.substr(3) == "\r";
    value.line += breaks ? 1 : 0;
    value.column = breaks ? 1 : value.column + 3;
  } else {
    value.column += 1;
  }
}

Value convert(const toml::node& node, const std::string& path, const Source& source);

std::string child(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Value::Table convert_table(const toml::table& table, const std::string& path, const Source& source) {
  Value::Table out;
  for (const auto& [key, node] : table)
    out.emplace_back(key.str(), convert(node, child(path, key.str()), source));
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
    const auto x = table.get(a.first)->source().begin, y = table.get(b.first)->source().begin;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  return out;
}

Value convert(const toml::node& node, const std::string& path, const Source& source) {
  Value out;
  if (const auto* b = node.as_boolean()) out.data = b->get();
  if (const auto* i = node.as_integer()) out.data = i->get();
  if (const auto* f = node.as_floating_point()) out.data = f->get();
  if (const auto* s = node.as_string()) out.data = s->get();
  if (const auto* t = node.as_table()) out.data = convert_table(*t, path, source);
  if (const auto* a = node.as_array()) {
    Value::List list;
    for (const auto& element : *a) list.push_back(convert(element, path, source));
    out.data = std::move(list);
  }
  out.path = path;
  out.where = source.name;
  if (source.positions) {
    const auto& region = node.source();
    out.where = fmt::format("{}:{}:{}", source.name, region.begin.line, region.begin.column);
    if (node.is_string()) place_text(out, region, source);
  }
  return out;
}

bool bare(const std::string& key) {
  return !key.empty() &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

std::string quoted(const std::string& text, bool multiline) {
  std::string out = multiline ? "\"\"\"\n" : "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool plain_quote = multiline && c == '"' && out.back() != '"' && i + 1 < text.size();
    if ((c == '"' && !plain_quote) || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n' && multiline)
      out += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + (multiline ? "\"\"\"" : "\"");
}

std::string number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  const std::string text = fmt::format("{}", v);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string write_value(const Value& value);

std::string write_inline(const Value::Table& table) {
  std::string out;
  for (const auto& [key, v] : table)
    out += (out.empty() ? " " : ", ") + (bare(key) ? key : quoted(key, false)) + " = " + write_value(v);
  return "{" + out + (out.empty() ? "}" : " }");
}

std::string write_value(const Value& value) {
  if (const auto* v = value.as<bool>()) return *v ? "true" : "false";
  if (const auto* v = value.as<std::int64_t>()) return std::to_string(*v);
  if (const auto* v = value.as<double>()) return number(*v);
  if (const auto* v = value.as<std::string>()) return quoted(*v, v->find('\n') != std::string::npos);
  if (const auto* v = value.as<Value::Table>()) return write_inline(*v);
  std::string out;
  if (const auto* v = value.as<Value::List>())
    for (const auto& element : *v) out += (out.empty() ? "" : ", ") + write_value(element);
  return "[" + out + "]";
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

Value parse_toml(std::string_view text, const std::string& source) {
  try {
    const toml::table table = toml::parse(text);
    Value out = convert(table, "", {text, source});
    out.where = source;
    return out;
  } catch (const toml::parse_error& e) {
    const auto at = e.source().begin;
    throw Error(fmt::format("{}:{}:{}: {}", source, at.line, at.column, first_line(e.description())));
  }
}

Value parse_toml_value(std::string_view text, const std::string& where) {
  try {
    const toml::table table = toml::parse("v = " + std::string(text));
    if (table.size() == 1) return convert(*table.get("v"), "", {text, where, false});
  } catch (const toml::parse_error&) {  // a bare word
  }
  Value out{std::string(text)};
  out.where = where;
  return out;
}

std::string write_toml_value(const Value& value) {
  return std::holds_alternative<std::monostate>(value.data) ? "nothing" : write_value(value);
}

std::string write_toml(const Value& document) {
  std::string plain, sections;
  const auto* table = document.as<Value::Table>();
  require(table != nullptr, "write_toml: the document is no table");
  for (const auto& [key, value] : *table) {
    if (const auto* section = value.as<Value::Table>()) {
      sections += "\n[" + key + "]\n";
      for (const auto& [name, v] : *section) sections += name + " = " + write_value(v) + "\n";
    } else {
      plain += key + " = " + write_value(value) + "\n";
    }
  }
  return plain + sections;
}

}  // namespace tightloop::train
