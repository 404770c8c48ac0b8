// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/table.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::report {
namespace {

bool is_left(const Table& table, std::size_t column) {
  return column < table.left.size() && table.left[column];
}

/// Characters, as far as those of the Latin script go: bytes that begin a code point.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

/// The name of row `r`, with its colour and its link.
std::string first_html(const Table& table, std::size_t r) {
  const std::string key = table.keys ? fmt::format("<span class=\"key c{}\"></span>", r % kStyles) : "";
  const std::string name = html(table.rows[r][0]);
  if (r >= table.links.size() || table.links[r].empty()) return key + name;
  return fmt::format("{}<a href=\"{}\">{}</a>", key, html(table.links[r]), name);
}

/// Control characters, which a terminal might obey, become question marks.
std::string plain(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text;
}

}  // namespace

std::string table_html(const Table& table) {
  std::string out = "<div class=wide><table>";
  if (!table.caption.empty()) out += "<caption>" + html(table.caption) + "</caption>";
  const auto cell = [&](const char* tag, const char* scope, std::size_t column, const std::string& inside) {
    out += fmt::format("<{}{}{}>{}</{}>", tag, scope, is_left(table, column) ? " class=l" : "", inside, tag);
  };
  if (!table.head.empty()) {
    out += "<thead><tr>";
    for (std::size_t c = 0; c < table.head.size(); ++c) cell("th", " scope=col", c, html(table.head[c]));
    out += "</tr></thead>";
  }
  out += "<tbody>";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      cell(c == 0 ? "th" : "td", c == 0 ? " scope=row" : "", c, c == 0 ? first_html(table, r) : html(row[c]));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths;
  const auto widen = [&](const std::vector<std::string>& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  };
  widen(table.head);
  for (const auto& row : table.rows) widen(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string out;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - width(row[c]), ' ');
      const std::string text = plain(row[c]);
      out += (c == 0 ? "" : "  ") + (is_left(table, c) ? text + space : space + text);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = table.head.empty() ? "" : line(table.head);
  for (const auto& row : table.rows) out += line(row);
  return out;
}

}  // namespace tightloop::train::report
