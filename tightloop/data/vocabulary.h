// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// The bytes of a text as u8[T], borrowed. Throws Error naming `name` when there are none.
Array text_bytes(const Bytes& text, const std::string& name);

/// The tokens that texts are made of. A file of them holds one a line, the first with the id 0, written as
/// they are, spaces included; `\n`, `\r`, `\t` and `\\` stand for these characters. The token `<unk>`, where
/// there is one, takes each character (UTF-8) that no token fits.
class Vocabulary {
 public:
  /// Throws Error naming the file and the line: an empty line, a token twice, an unknown escape, no tokens.
  static Vocabulary open(const std::string& path);
  static Vocabulary parse(std::string_view text, const std::string& name);

  std::size_t size() const { return tokens_.size(); }
  const std::vector<std::string>& tokens() const { return tokens_; }

  /// i32[T]: at each place the longest token that fits. Throws Error naming `name`, line and column when
  /// none does.
  Array ids(const Bytes& text, const std::string& name) const;

 private:
  /// A place in the tree of all tokens: what follows it, by byte.
  struct Node {
    std::int32_t token = -1;
    std::int32_t first = -1;  ///< child with the smallest byte
    std::int32_t next = -1;   ///< sibling
    unsigned char byte = 0;
  };

  std::int32_t child(std::int32_t node, unsigned char byte) const;
  bool add(std::string token);

  std::vector<std::string> tokens_;
  std::vector<Node> nodes_{1};
  std::int32_t start_[256];  ///< children of the root
  std::int32_t unknown_ = -1;

  Vocabulary();
};

}  // namespace tightloop::data
