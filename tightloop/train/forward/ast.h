// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tightloop::train::forward {

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

enum class ExprKind : std::uint8_t {
  none,
  boolean,  ///< value
  integer,  ///< value
  number,   ///< value
  string,   ///< text
  name,     ///< text
  list,     ///< parts; tuples too
  call,     ///< text(parts...), keywords[i] names part i or is empty
  unary,    ///< text parts[0]
  binary,   ///< parts[0] text parts[1]
  index,    ///< parts[0][parts[1], ...]
  slice,    ///< parts: start, stop, step; null where left out
  ellipsis,
};

/// An expression of the forward text.
struct Expr {
  ExprKind kind = ExprKind::none;
  std::size_t at = 0;  ///< byte of the source, for messages
  std::string text = {};
  std::variant<std::monostate, bool, std::int64_t, double> value = {};
  std::vector<ExprPtr> parts = {};
  std::vector<std::string> keywords = {};
  int depth = 1;  ///< levels of expressions below, itself included; at most kMaxDepth
};

inline constexpr int kMaxDepth = 200;

/// `name = value`
struct Statement {
  std::string name;
  std::size_t at = 0;
  ExprPtr value;
};

}  // namespace tightloop::train::forward
