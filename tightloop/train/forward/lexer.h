// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tightloop::train::forward {

enum class TokenKind : std::uint8_t { name, number, string, symbol, newline, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;    ///< a string's text is unescaped
  std::size_t at = 0;  ///< byte of the source
};

/// Cuts the text into tokens; newlines inside brackets and comments are left out.
/// Throws Error with a caret at the offending character.
std::vector<Token> tokenize(const Text& text);

}  // namespace tightloop::train::forward
