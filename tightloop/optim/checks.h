// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tightloop::optim {

/// Throw Error "optimizer adam: invalid learning rate -1: must be finite and 0 or greater", and so on.
void check_not_negative(std::string_view optimizer, std::string_view what, double value);
/// 0 ≤ value < 1
void check_fraction(std::string_view optimizer, std::string_view what, double value);
/// 0 ≤ value ≤ 1
void check_share(std::string_view optimizer, std::string_view what, double value);

}  // namespace tightloop::optim
