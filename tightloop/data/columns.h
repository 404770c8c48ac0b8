// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// True when `text` matches `pattern`: `*` is any run of characters, `?` any one of them.
bool matches(std::string_view pattern, std::string_view text);

/// Positions in `have` of the columns that `wanted` names, in the order of `wanted`. An entry that
/// is a name takes that column; otherwise an entry with `*` or `?` takes every column that it matches, in the
/// order of the file, leaving out those taken before and those in `reserved` (so that "*" never takes
/// the target). Throws Error naming `source`: an entry that matches nothing (with the nearest names),
/// a column named twice, an empty selection.
std::vector<std::size_t> select_columns(const std::vector<std::string>& have,
                                        const std::vector<std::string>& wanted, const std::string& source,
                                        const std::vector<std::string>& reserved = {});

/// "'a', 'b', 'c' and 9 more": at most `limit` of the names.
std::string name_list(const std::vector<std::string>& names, std::size_t limit = 8);

}  // namespace tightloop::data
