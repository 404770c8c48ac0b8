// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/history.h>

#include <string>

namespace tightloop::train::report {

/// Where the seconds went, as a bar and a table; "" when nothing was measured.
std::string time_html(const TimeSplit& time);

}  // namespace tightloop::train::report
