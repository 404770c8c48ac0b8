// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/optim/schedules/check.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::optim {
namespace {

void check(bool good, std::string_view schedule, std::string_view what, const char* rule, double value) {
  if (!good || !std::isfinite(value))
    throw Error(fmt::format("schedule {}: {} must be {}, not {}", schedule, what, rule, value));
}

}  // namespace

void check_above_zero(std::string_view schedule, std::string_view what, double value) {
  check(value > 0, schedule, what, "greater than 0", value);
}
void check_from_zero(std::string_view schedule, std::string_view what, double value) {
  check(value >= 0, schedule, what, "0 or greater", value);
}
void check_unit(std::string_view schedule, std::string_view what, double value) {
  check(value >= 0 && value <= 1, schedule, what, "between 0 and 1", value);
}

}  // namespace tightloop::optim
