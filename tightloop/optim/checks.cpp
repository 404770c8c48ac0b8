// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/checks.h>

#include <tightloop/base/error.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::optim {

void check_not_negative(std::string_view optimizer, std::string_view what, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw Error(
        fmt::format("optimizer {}: invalid {} {}: must be finite and 0 or greater", optimizer, what, value));
}

void check_fraction(std::string_view optimizer, std::string_view what, double value) {
  if (!(value >= 0 && value < 1))
    throw Error(
        fmt::format("optimizer {}: invalid {} {}: must be at least 0 and below 1", optimizer, what, value));
}

void check_share(std::string_view optimizer, std::string_view what, double value) {
  if (!(value >= 0 && value <= 1))
    throw Error(fmt::format("optimizer {}: invalid {} {}: must be 0..1", optimizer, what, value));
}

}  // namespace tightloop::optim
