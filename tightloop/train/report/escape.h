// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tightloop::train::report {

/// `text` as it stands in HTML, inside elements and quoted attributes: & < > " ' become entities, bytes that
/// are no UTF-8 and control characters other than tab and newline become U+FFFD. What it gives cannot open
/// or close an element or an attribute.
std::string html(std::string_view text);

/// The address of a file by its path: what has a meaning in addresses is written as %XX.
std::string address(std::string_view path);

/// The first `most` characters (code points) of `text`, the last of them an ellipsis when it is longer.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace tightloop::train::report
