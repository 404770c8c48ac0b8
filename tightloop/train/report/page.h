// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train::report {

/// A page that needs nothing but itself: styles and script are inside it. It follows the reader's choice of
/// light or dark, the width of the screen, and prints. `body` is HTML.
std::string page(const std::string& title, const std::string& subtitle, const std::string& body);

/// <section> with its heading, if any; "" when there is no `body`. `id` is a word.
std::string section(const std::string& id, const std::string& heading, const std::string& body);

/// Names with values, large, next to each other. Texts, escaped.
std::string tiles(const std::vector<std::pair<std::string, std::string>>& values);

/// `body` to be opened by a click, when `folded`; else as it is. What is folded is printed all the same.
std::string foldable(const std::string& summary, const std::string& body, bool folded);

}  // namespace tightloop::train::report
