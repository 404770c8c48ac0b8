// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tightloop::data {

/// Reads all of `text` as one finite decimal number, correctly rounded; spaces around it and a leading
/// `+` are allowed. False when it is anything else (NaN and infinities included).
bool parse_number(std::string_view text, float& out);
bool parse_number(std::string_view text, double& out);
/// Whole numbers; "2.0" and "1e3" count up to 2^53.
bool parse_number(std::string_view text, std::int64_t& out);
bool parse_number(std::string_view text, std::int32_t& out);

/// True for an empty field and the words that stand for a missing value (NA, nan, null, ?, ...).
bool is_missing(std::string_view text);

/// What is wrong with `text`, for messages: `'1,234' is not a number (thousands separators ...)`.
std::string not_a_number(std::string_view text, bool whole);

/// What is wrong with a column of more than `limit` texts, for messages.
std::string too_many_texts(std::size_t limit);

}  // namespace tightloop::data
