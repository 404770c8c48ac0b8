// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/forward/source.h>

#include <fmt/format.h>
#include <algorithm>
#include <string_view>

namespace tightloop::train::forward {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Tabs stay tabs, so that the caret stands under its character.
std::string blank(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!continues(c)) out += c == '\t' ? '\t' : ' ';
  return out;
}

/// The text from the line's start, at most 80 bytes before the caret, and to the line's end.
std::string_view before(std::string_view text, std::size_t at) {
  const std::size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return text.substr(start, at - start);
}

std::string_view after(std::string_view text, std::size_t at) {
  text.remove_prefix(at);
  return text.substr(0, std::min<std::size_t>(text.find_first_of("\r\n"), 80));
}

}  // namespace

void fail_at(const Text& text, std::size_t at, const std::string& problem) {
  at = std::min(at, text.text.size());
  std::string_view left = before(text.text, at);
  const auto line = std::count(text.text.begin(), text.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  auto column = 1 + std::count_if(left.begin(), left.end(), [](char c) { return !continues(c); });
  if (line == 0 && text.line > 0) column += text.column - 1;
  const std::string source = text.source.empty() ? "forward" : text.source;
  if (left.size() > 80) left.remove_prefix(left.size() - 80);
  while (!left.empty() && continues(left.front())) left.remove_prefix(1);
  throw Error(fmt::format("{}:{}:{}: {}\n  {}{}\n  {}^", source, line + std::max(text.line, 1), column,
                          problem, left, after(text.text, at), blank(left)));
}

}  // namespace tightloop::train::forward
