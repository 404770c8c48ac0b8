// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/column_rule.h>
#include <tightloop/data/columns.h>

#include <algorithm>

namespace tightloop::data {
namespace {

bool is_pattern(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

/// The pattern's letters, to suggest names near to it.
std::string stem(std::string pattern) {
  std::erase_if(pattern, [](char c) { return c == '*' || c == '?'; });
  return pattern;
}

[[noreturn]] void nothing_matches(const std::string& entry, const std::vector<std::string>& have,
                                  const std::string& source) {
  const bool pattern = is_pattern(entry);
  throw Error(source + ": no column " + (pattern ? "matches '" : "is named '") + entry + "'" +
              suggestion(pattern ? stem(entry) : entry, have) + "; it has " + std::to_string(have.size()) +
              ": " + name_list(have));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::size_t> select_columns(const std::vector<std::string>& have,
                                        const std::vector<std::string>& wanted, const std::string& source,
                                        const std::vector<std::string>& reserved) {
  std::vector<std::size_t> out;
  std::vector<bool> taken(have.size(), false);
  const auto take = [&](std::size_t i) {
    taken[i] = true;
    out.push_back(i);
  };
  for (const std::string& entry : wanted) {
    const auto named = std::find(have.begin(), have.end(), entry);
    if (named != have.end()) {
      const auto i = static_cast<std::size_t>(named - have.begin());
      if (taken[i]) throw Error(source + ": column '" + entry + "' is selected twice");
      take(i);
      continue;
    }
    bool any = false;
    for (std::size_t i = 0; is_pattern(entry) && i < have.size(); ++i) {
      if (!matches(entry, have[i])) continue;
      if (std::find(reserved.begin(), reserved.end(), have[i]) != reserved.end()) continue;
      any = true;
      if (!taken[i]) take(i);
    }
    if (!any) nothing_matches(entry, have, source);
  }
  if (out.empty()) throw Error(source + ": no column is selected");
  return out;
}

ColumnRule rule_for(std::span<const ColumnRule> rules, const std::string& column) {
  const auto named = [&](const ColumnRule& r) { return r.match == column; };
  auto found = std::find_if(rules.begin(), rules.end(), named);
  if (found == rules.end())
    found = std::find_if(rules.begin(), rules.end(),
                         [&](const ColumnRule& r) { return matches(r.match, column); });
  ColumnRule out = found == rules.end() ? ColumnRule{} : *found;
  out.match = column;
  return out;
}

std::string name_list(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), limit); ++i) out += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > limit) out += " and " + std::to_string(names.size() - limit) + " more";
  return out;
}

}  // namespace tightloop::data
