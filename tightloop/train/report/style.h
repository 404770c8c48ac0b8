// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tightloop::train::report {

/// The style sheet of a page. Texts have a contrast of at least 4.5 to what is behind them, light and dark.
std::string_view style();

/// Shows the values of a chart's lines at the epoch under the pointer. The page is complete without it.
std::string_view script();

}  // namespace tightloop::train::report
