// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/attrs.h>

#include <string>
#include <string_view>

namespace tightloop::ir {

/// Shortest decimal that reads back as the same double; "nan", "inf", "-inf".
std::string number_text(double value);
/// In double quotes; `"`, `\` and control bytes are escaped as \" \\ \xHH.
std::string quoted(std::string_view text);
/// A letter or `_`, then letters, digits, `_`, `.` and `-`: such a name needs no quotes.
bool is_plain_name(std::string_view text);
std::string name_text(std::string_view text);
/// An attribute's value as the printer writes it.
std::string attr_text(const AttrValue& value);

}  // namespace tightloop::ir
