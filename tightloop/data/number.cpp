// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/number.h>

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tightloop::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The number without spaces and plus sign; empty unless a digit or point leads it (nan and inf do not).
std::string_view digits(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {};
  }
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (text.size() <= first) return {};
  const char c = text[first];
  return (c >= '0' && c <= '9') || c == '.' ? text : std::string_view{};
}

template <class Float>
bool parse_float(std::string_view text, Float& out) {
  text = digits(text);
  const char* end = text.data() + text.size();
  const auto [stop, code] = fast_float::from_chars(text.data(), end, out);
  const bool read = code == std::errc() || (code == std::errc::result_out_of_range && out == 0);
  return !text.empty() && read && stop == end && std::isfinite(out);
}

template <class Int>
bool parse_whole(std::string_view text, Int& out) {
  const std::string_view plain = digits(text);
  if (plain.empty()) return false;
  const char* end = plain.data() + plain.size();
  const auto [stop, code] = std::from_chars(plain.data(), end, out);
  if (code == std::errc() && stop == end) return true;
  double value = 0;
  if (!parse_float(text, value) || value != std::floor(value) || std::abs(value) > 0x1p53) return false;
  if (std::abs(value) > static_cast<double>(std::numeric_limits<Int>::max())) return false;
  out = static_cast<Int>(value);
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLimit = 40;
  std::string out(text.substr(0, kLimit));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
  return "'" + out + (text.size() > kLimit ? "...'" : "'");
}

}  // namespace

bool parse_number(std::string_view text, float& out) { return parse_float(text, out); }
bool parse_number(std::string_view text, double& out) { return parse_float(text, out); }
bool parse_number(std::string_view text, std::int64_t& out) { return parse_whole(text, out); }
bool parse_number(std::string_view text, std::int32_t& out) { return parse_whole(text, out); }

bool is_missing(std::string_view text) {
  std::string lower(trimmed(text));
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* word : {"", "na", "n/a", "nan", "-nan", "null", "none", "?", "-", ".", "#n/a"})
    if (lower == word) return true;
  return false;
}

std::string too_many_texts(std::size_t limit) {
  return "more than " + std::to_string(limit) + " different texts; this is no column of classes";
}

std::string not_a_number(std::string_view text, bool whole) {
  double value = 0;
  if (is_missing(text))
    return quoted(text) +
           " is a missing value; remove the row, fill it in, or say in data.columns what stands for it";
  if (whole && parse_number(text, value))
    return quoted(text) +
           (value == std::floor(value) ? " is too large for a whole number here" : " is not a whole number");
  if (parse_number(text, value)) return quoted(text) + " is too large for f32";
  const bool commas = text.find_first_not_of("0123456789.,+-eE ") == std::string_view::npos &&
                      text.find(',') != std::string_view::npos;
  if (commas)
    return quoted(text) +
           " is not a number (thousands separators and decimal commas are not read: write 1234.5)";
  const bool numeric = text.find_first_not_of("0123456789.+-eE ") == std::string_view::npos;
  return quoted(text) + (numeric ? " is not a number that a double can hold" : " is not a number");
}

}  // namespace tightloop::data
