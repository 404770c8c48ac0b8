// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/vocabulary.h>

#include <algorithm>

namespace tightloop::data {
namespace {

constexpr std::string_view kUnknown = "<unk>";

std::string without_escapes(std::string_view line, const std::string& where) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    const char c = ++i < line.size() ? line[i] : ' ';
    const auto known = std::string_view("nrt\\").find(c);
    if (known == std::string_view::npos)
      throw Error(where + ": '\\' is followed by '" + std::string(1, c) +
                  "'; there are \\n, \\r, \\t and \\\\");
    out += "\n\r\t\\"[known];
  }
  return out;
}

/// Bytes of the UTF-8 character that begins with `c`.
std::size_t width(unsigned char c) { return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4; }

[[noreturn]] void no_token(std::string_view text, std::size_t at, const std::string& name) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto begin = text.rfind('\n', at == 0 ? 0 : at - 1);
  const std::size_t column = at == 0 || begin == std::string_view::npos ? at + 1 : at - begin;
  throw Error(name + ": line " + std::to_string(line) + ", byte " + std::to_string(column) +
              ": no token of the vocabulary fits '" +
              std::string(text.substr(at, width(static_cast<unsigned char>(text[at])))) +
              "'; add it, or a token " + std::string(kUnknown));
}

}  // namespace

Array text_bytes(const Bytes& text, const std::string& name) {
  if (text.empty()) throw Error(name + ": the text is empty");
  return Array::borrow(DType::u8, {static_cast<std::int64_t>(text.size())}, text.data(), text.owner());
}

Vocabulary::Vocabulary() { std::fill(std::begin(start_), std::end(start_), -1); }

Vocabulary Vocabulary::open(const std::string& path) { return parse(read_file(path).text(), path); }

Vocabulary Vocabulary::parse(std::string_view text, const std::string& name) {
  Vocabulary out;
  std::int64_t line = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view token = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (token.ends_with('\r')) token.remove_suffix(1);
    const std::string where = name + ": line " + std::to_string(++line);
    if (token.empty()) throw Error(where + ": is empty; each line is a token (\\n stands for a line end)");
    if (token.find('\0') != std::string_view::npos)
      throw Error(where + ": a NUL byte: this is no vocabulary");
    const std::string plain = without_escapes(token, where);
    if (token == kUnknown) out.unknown_ = static_cast<std::int32_t>(out.tokens_.size());
    if (!out.add(plain)) throw Error(where + ": the token '" + std::string(token) + "' comes twice");
  }
  if (out.tokens_.empty()) throw Error(name + ": holds no tokens");
  return out;
}

std::int32_t Vocabulary::child(std::int32_t node, unsigned char byte) const {
  if (node == 0) return start_[byte];
  std::int32_t at = nodes_[static_cast<std::size_t>(node)].first;
  while (at >= 0 && nodes_[static_cast<std::size_t>(at)].byte != byte)
    at = nodes_[static_cast<std::size_t>(at)].next;
  return at;
}

bool Vocabulary::add(std::string token) {
  std::int32_t node = 0;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    std::int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<std::int32_t>(nodes_.size());
      Node made{.byte = byte};
      if (node == 0) {
        start_[byte] = next;
      } else {
        made.next = nodes_[static_cast<std::size_t>(node)].first;
        nodes_[static_cast<std::size_t>(node)].first = next;
      }
      nodes_.push_back(made);
    }
    node = next;
  }
  if (nodes_[static_cast<std::size_t>(node)].token >= 0) return false;
  nodes_[static_cast<std::size_t>(node)].token = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(std::move(token));
  return true;
}

Array Vocabulary::ids(const Bytes& bytes, const std::string& name) const {
  const std::string_view text = bytes.text();
  std::vector<std::int32_t> out;
  for (std::size_t at = 0; at < text.size();) {
    std::int32_t node = 0, best = -1;
    std::size_t end = at, next = at;
    while (next < text.size() && (node = child(node, static_cast<unsigned char>(text[next]))) >= 0) {
      ++next;
      const std::int32_t token = nodes_[static_cast<std::size_t>(node)].token;
      if (token >= 0) best = token, end = next;
    }
    if (best < 0 && unknown_ < 0) no_token(text, at, name);
    out.push_back(best >= 0 ? best : unknown_);
    at = best >= 0 ? end : std::min(text.size(), at + width(static_cast<unsigned char>(text[at])));
  }
  if (out.empty()) throw Error(name + ": the text is empty");
  return Array::of<std::int32_t>({static_cast<std::int64_t>(out.size())}, out);
}

}  // namespace tightloop::data
