// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/npy_header.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tightloop::io {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, keys in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        once(descr, key, descr_value());
      else if (key == "fortran_order")
        once(fortran_order, key, boolean());
      else if (key == "shape")
        once(shape, key, tuple());
      else
        fail("has the unknown key '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("has text after the closing brace");
    if (!descr || !fortran_order || !shape) fail("must have the keys descr, fortran_order and shape");
    return {*descr, fields_, *fortran_order, *shape, 0};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ": the NPY header " + what + " (at its byte " + std::to_string(at_) + ")");
  }
  template <class T>
  void once(std::optional<T>& slot, const std::string& key, T value) {
    if (slot) fail("has the key '" + key + "' twice");
    slot = std::move(value);
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("lacks a '") + c + "'");
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("lacks a quoted string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("has a string that does not end");
    const auto inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find('\\') != std::string_view::npos) fail("has an escape in a string");
    at_ = end + 1;
    return std::string(inside);
  }
  /// One type, or [('step', '<i8'), ('loss', '<f4')], which fills fields_ and gives "".
  std::string descr_value() {
    if (!accept('[')) return quoted();
    while (!accept(']')) {
      expect('(');
      std::string field = quoted();
      expect(',');
      fields_.emplace_back(std::move(field), quoted());
      expect(')');
      if (accept(',')) continue;
      expect(']');
      break;
    }
    if (fields_.empty()) fail("describes records without a field");
    return "";
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("has a fortran_order that is neither True nor False");
  }
  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc() || value < 0) fail("has a dim that is not a number from 0 to 2^63");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return value;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> out;
    expect('(');
    while (!accept(')')) {
      out.push_back(number());
      if (accept(',')) continue;
      if (out.size() == 1) fail("has a shape that is not a tuple");
      expect(')');
      break;
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string& name_;
  Fields fields_;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
  if (!text.starts_with(kNpyMagic))
    throw Error(name + ": not an NPY file: it does not begin with \\x93NUMPY");
  if (text.size() < 8) throw Error(name + ": the NPY file is cut short inside its header");
  const int major = static_cast<unsigned char>(text[6]);
  const int minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(name + ": NPY version " + std::to_string(major) + "." + std::to_string(minor) +
                " is not supported (1.0, 2.0 and 3.0 are)");
  const std::size_t digits = major == 1 ? 2 : 4;
  const std::size_t start = 8 + digits;
  if (text.size() < start) throw Error(name + ": the NPY file is cut short inside its header");
  const std::size_t length = little_endian(text.substr(8, digits));
  if (length > text.size() - start)
    throw Error(name + ": the NPY header claims " + std::to_string(length) + " bytes, the file has " +
                std::to_string(text.size() - start) + " after its first " + std::to_string(start));
  NpyHeader out = HeaderParser(text.substr(start, length), name).parse();
  out.start = start + length;
  return out;
}

std::string npy_preamble(std::string header, std::size_t least) {
  constexpr std::size_t kAlign = 64;
  const bool wide = header.size() + kAlign > 0xffff;
  const std::size_t before = kNpyMagic.size() + 2 + (wide ? 4 : 2);
  const std::size_t total = std::max(least, (before + header.size() + 1 + kAlign - 1) / kAlign * kAlign);
  header.resize(total - before - 1, ' ');
  header += '\n';
  std::string out(kNpyMagic);
  out += wide ? '\2' : '\1';
  out += '\0';
  for (std::size_t i = 0, n = header.size(); i < (wide ? 4u : 2u); ++i, n >>= 8)
    out += static_cast<char>(static_cast<unsigned char>(n & 0xff));
  return out + header;
}

}  // namespace tightloop::io
