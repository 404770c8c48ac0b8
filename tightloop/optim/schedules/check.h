// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace tightloop::optim {

/// Throw Error "schedule cosine: T_max must be greater than 0, not -1", and so on.
void check_above_zero(std::string_view schedule, std::string_view what, double value);
void check_from_zero(std::string_view schedule, std::string_view what, double value);
/// 0 ≤ value ≤ 1
void check_unit(std::string_view schedule, std::string_view what, double value);

}  // namespace tightloop::optim
