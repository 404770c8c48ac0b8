// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace tightloop::train::report {

/// Four significant digits, as few as needed, but whole numbers below ten millions in full: "0.2903", "12.5",
/// "123456", "1.2e-9", "nan".
std::string number_text(double value, int digits = 4);
/// "12,345,678"
std::string count_text(std::int64_t count);
/// "13 ms", "5.12 s", "3 min 20 s", "2 h 5 min"
std::string seconds_text(double seconds);
/// "12.5 %"
std::string percent_text(double share);
/// "38.3 M samples/s"
std::string rate_text(double samples_per_s);
/// A place or a length inside a drawing: one decimal, without what is not needed.
std::string place_text(double place);

}  // namespace tightloop::train::report
