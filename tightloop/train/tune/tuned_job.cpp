// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/job.h>
#include <tightloop/train/overrides.h>
#include <tightloop/train/toml.h>
#include <tightloop/train/tune/tuned_job.h>

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tightloop::train::tune {
namespace {

std::vector<std::string> parts_of(const std::string& setting) {
  const std::string path = setting.substr(0, setting.find('='));
  std::vector<std::string> out{""};
  for (const char c : path)
    if (c == '.')
      out.emplace_back();
    else if (c != ' ')
      out.back() += c;
  return out;
}

/// The byte of a line and column, which count from 1, columns in code points.
std::size_t byte_at(const std::string& text, const toml::source_position& at) {
  std::size_t i = 0;
  for (toml::source_index line = 1; line < at.line && i < text.size(); ++i)
    if (text[i] == '\n') ++line;
  for (toml::source_index column = 1; column < at.column && i < text.size(); ++column) do
      ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u);
  return i;
}

/// A table that begins with a line [name].
bool has_header(const toml::node& node, const std::string& text) {
  const auto* table = node.as_table();
  if (table == nullptr || table->is_inline()) return false;
  const std::size_t at = byte_at(text, node.source().begin);
  return at < text.size() && text[at] == '[' && (at == 0 || text[at - 1] == '\n');
}

/// Behind the line on which the last plain entry of a table with a header ends.
std::size_t end_of_entries(const toml::table& table, const std::string& text) {
  std::size_t last = byte_at(text, table.source().begin);
  for (const auto& [key, node] : table) {
    const bool apart = (node.is_table() && !node.as_table()->is_inline()) || node.is_array_of_tables();
    if (!apart) last = std::max(last, byte_at(text, node.source().end));
  }
  return std::min(text.find('\n', last), text.size());
}

const Value& at(const Value& document, const std::vector<std::string>& path, std::size_t depth) {
  const Value* v = &document;
  for (std::size_t i = 0; i < depth; ++i) {
    v = v->find(path[i]);
    require(v != nullptr, "with_settings: an override is not in its document");
  }
  return *v;
}

/// The text with one more setting; nothing where it is written in a way that this cannot follow. `document`
/// holds the setting already.
std::optional<std::string> edited(std::string text, const Value& document,
                                  const std::vector<std::string>& path) {
  const toml::table root = toml::parse(text);
  const toml::node* node = &root;
  std::size_t depth = 0;
  while (depth < path.size() && node->is_table()) {
    const toml::node* next = node->as_table()->get(path[depth]);
    if (next == nullptr) break;
    node = next, ++depth;
  }
  if (depth == 0) {
    const std::string value = write_toml_value(at(document, path, path.size()));
    if (path.size() == 1) return path[0] + " = " + value + "\n" + text;
    if (path.size() > 2) return std::nullopt;
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text + "\n[" + path[0] + "]\n" + path[1] + " = " + value + "\n";
  }
  if (has_header(*node, text)) {
    if (depth == path.size()) return std::nullopt;
    const std::string line = path[depth] + " = " + write_toml_value(at(document, path, depth + 1));
    return text.insert(end_of_entries(*node->as_table(), text), "\n" + line);
  }
  if (node->is_array_of_tables() || (node->is_table() && !node->as_table()->is_inline())) return std::nullopt;
  const std::size_t begin = byte_at(text, node->source().begin), end = byte_at(text, node->source().end);
  return text.replace(begin, end - begin, write_toml_value(at(document, path, depth)));
}

/// Edits the text setting by setting; nothing when one cannot be followed.
std::optional<std::string> edited_all(std::string text, const std::string& source, const Settings& settings) {
  for (const std::string& setting : settings) {
    Value document = parse_toml(text, source);
    apply_override(document, setting);
    auto next = edited(text, document, parts_of(setting));
    if (!next) return std::nullopt;
    text = std::move(*next);
  }
  return text;
}

bool reads_as(const std::string& text, const std::string& source, const std::string& wanted) {
  try {
    return to_toml(parse_job(text, source)) == wanted;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string with_settings(const std::string& text, const std::string& source, const Settings& settings) {
  const std::string wanted = to_toml(parse_job(text, source, settings));
  const auto out = edited_all(text, source, settings);
  if (out && reads_as(*out, source, wanted)) return *out;
  Value document = parse_toml(text, source);
  for (const std::string& setting : settings) apply_override(document, setting);
  return write_toml(document);
}

}  // namespace tightloop::train::tune
