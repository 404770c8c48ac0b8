// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading a table eight characters at a time. All of it looks up to kReadAhead bytes behind where it stops,
// so the text must hold a line end and so many bytes behind that. Bytes are taken as a little-endian machine
// has them; on others the fast ways are not taken (kFastBytes).
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tightloop::data {

inline constexpr std::ptrdiff_t kReadAhead = 16;
inline constexpr bool kFastBytes = std::endian::native == std::endian::little;

inline std::uint64_t eight_bytes(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline constexpr std::uint64_t each_byte(unsigned char c) { return c * 0x0101010101010101U; }

/// The high bit of the first byte that is zero (and of some behind it).
inline std::uint64_t first_zero(std::uint64_t word) {
  return (word - each_byte(1)) & ~word & each_byte(0x80);
}

inline bool ends_line(char c) { return c == '\n' || c == '\r'; }

/// The first separator, line end, quote or NUL from `p` on.
inline const char* field_end(const char* p, char separator) {
  const std::uint64_t separators = each_byte(static_cast<unsigned char>(separator));
  for (;; p += 8) {
    const std::uint64_t word = eight_bytes(p);
    const std::uint64_t control = (word - each_byte(0x0e)) & ~word & each_byte(0x80);
    std::uint64_t found = control | first_zero(word ^ separators) | first_zero(word ^ each_byte('"'));
    for (; found != 0; found &= found - 1) {
      const char* at = p + std::countr_zero(found) / 8;
      if (*at == separator || ends_line(*at) || *at == '"' || *at == '\0') return at;
    }
  }
}

/// The number that eight digits, 0 to 9, are; the first is the lowest byte.
inline std::uint64_t number_of(std::uint64_t digits) {
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ff;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffff;
  return (digits * 10000 + (digits >> 32)) & 0xffffffff;
}

/// Appends the digits from `p` on to `value`, which wraps around; the first byte that is none.
inline const char* take_digits(const char* p, std::uint64_t& value) {
  constexpr std::uint64_t kPower[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  for (;;) {
    const std::uint64_t digits = eight_bytes(p) ^ each_byte('0');
    const std::uint64_t others = ((digits + each_byte(0x76)) | digits) & each_byte(0x80);
    if (others != 0) {
      const int n = std::countr_zero(others) / 8;
      value = value * kPower[n] + number_of(digits << 8 << (56 - 8 * n));
      return p + n;
    }
    value = value * 100000000 + number_of(digits);
    p += 8;
  }
}

/// Adds the exponent at `p` to `scale`; null when there is none of at most three digits.
inline const char* take_exponent(const char* p, int& scale) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  std::uint64_t value = 0;
  const char* end = take_digits(p, value);
  if (end == p || end - p > 3) return nullptr;
  scale += negative ? -static_cast<int>(value) : static_cast<int>(value);
  return end;
}

inline constexpr int kExactPowers = 22;  ///< 10^22 is the last power of ten that a double holds exactly
inline constexpr double kTens[kExactPowers + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// value × 10^scale where one rounding makes it (Clinger, "How to read floating point numbers accurately").
inline bool scaled(std::uint64_t value, int scale, double& out) {
  if (value > std::uint64_t{1} << 53) return false;
  out = scale < 0 ? static_cast<double>(value) / kTens[-scale] : static_cast<double>(value) * kTens[scale];
  return true;
}

/// By way of a double that is off by at most two of its last places: false where that could matter.
inline bool scaled(std::uint64_t value, int scale, float& out) {
  const double wide =
      scale < 0 ? static_cast<double>(value) / kTens[-scale] : static_cast<double>(value) * kTens[scale];
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1, kHalf = std::uint64_t{1} << 28;
  if ((std::bit_cast<std::uint64_t>(wide) & kDropped) - (kHalf - 4) <= 8) return false;
  out = static_cast<float>(wide);
  return wide < static_cast<double>(std::numeric_limits<float>::max());
}

/// Reads the number that begins at `p`, correctly rounded. Returns where it ends; null when it is not of the
/// usual form, and parse_number() must decide.
template <class Float>
inline const char* read_plain(const char* p, Float& out) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  std::uint64_t value = 0;
  const char* end = take_digits(p, value);
  std::ptrdiff_t digits = end - p;
  int scale = 0;
  if (*end == '.') {
    p = end + 1;
    end = take_digits(p, value);
    digits += end - p;
    if (digits > 19) return nullptr;
    scale = -static_cast<int>(end - p);
  }
  if (digits == 0 || digits > 19) return nullptr;
  if ((*end == 'e' || *end == 'E') && (end = take_exponent(end + 1, scale)) == nullptr) return nullptr;
  if (scale < -kExactPowers || scale > kExactPowers || !scaled(value, scale, out)) return nullptr;
  out = negative ? -out : out;
  return end;
}

template <class Int>
inline const char* read_plain_whole(const char* p, Int& out) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  std::uint64_t digits = 0;
  const char* end = take_digits(p, digits);
  if (end == p || end - p > 18) return nullptr;
  const auto value = negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
  out = static_cast<Int>(value);
  return out == value ? end : nullptr;
}
inline const char* read_plain(const char* p, std::int64_t& out) { return read_plain_whole(p, out); }
inline const char* read_plain(const char* p, std::int32_t& out) { return read_plain_whole(p, out); }

}  // namespace tightloop::data
