// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

enum class ColumnType : std::uint8_t { unsaid, number, category };
enum class Encoding : std::uint8_t { unsaid, index, one_hot };
enum class Missing : std::uint8_t { refuse, mean, value, category };

/// How the columns of a table whose name matches become numbers.
struct ColumnRule {
  std::string match;  ///< a name, or a pattern with `*` and `?`
  ColumnType type = ColumnType::unsaid;
  Encoding encode = Encoding::unsaid;
  Missing missing = Missing::refuse;
  double value = 0;                                     ///< for Missing::value
  std::optional<std::vector<std::string>> values = {};  ///< of a category, in the order of their numbers
  std::string where = {};                               ///< place in a job file, for messages

  friend bool operator==(const ColumnRule& a, const ColumnRule& b) = default;
};

/// The rule for `column`: that of its name, else the first whose pattern matches, else one that says nothing;
/// `match` is the column's name.
ColumnRule rule_for(std::span<const ColumnRule> rules, const std::string& column);

}  // namespace tightloop::data
