// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/escape.h>

#include <fmt/format.h>
#include <cstdint>

namespace tightloop::train::report {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

/// Bytes of the code point at the start of `text`; 0 where there is none (RFC 3629: no overlong forms, no
/// surrogates, nothing beyond U+10FFFF).
std::size_t code_point(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  std::uint32_t value = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0u) != 0x80u) return 0;
    value = value << 6 | (at(i) & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return overlong || surrogate || value > 0x10FFFF ? 0 : size;
}

void add_byte(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
        out += kReplacement;
      else
        out += c;
  }
}

}  // namespace

std::string html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = code_point(text);
    if (size == 1)
      add_byte(out, text[0]);
    else
      out += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string address(std::string_view path) {
  constexpr std::string_view plain = "/-_.~";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    out +=
        letter || plain.find(c) != std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t at = 0, kept = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == most) return std::string(text.substr(0, kept)) + "\xE2\x80\xA6";
    if (count + 1 == most) kept = at;
    const std::size_t size = code_point(text.substr(at));
    at += size == 0 ? 1 : size;
  }
  return std::string(text);
}

}  // namespace tightloop::train::report
