// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/value.h>

#include <string>
#include <string_view>

namespace tightloop::train {

/// The document as a table. `source` is the file's name as messages show it. Throws Error with
/// line and column.
Value parse_toml(std::string_view text, const std::string& source);

/// One value as written after a `key =`; a text that is no TOML value is taken as a string.
Value parse_toml_value(std::string_view text, const std::string& where);

/// A value as it stands behind a `key =`; "nothing" for none.
std::string write_toml_value(const Value& value);

/// The document: plain keys first, then one section a table, tables inside written inline.
std::string write_toml(const Value& document);

}  // namespace tightloop::train
