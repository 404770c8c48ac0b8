// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/max_time.h>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>

namespace tightloop::train {
namespace {

double unit_of(char c) {
  switch (c) {
    case 'd':
      return 86400;
    case 'h':
      return 3600;
    case 'm':
      return 60;
    case 's':
      return 1;
    default:
      return 0;
  }
}

[[noreturn]] void wrong_time(const std::string& text) {
  throw Error(fmt::format("max_time: '{}' is no time: write seconds, \"1h30m\" or \"01:30:00\"", text));
}

/// "00:30:00", days before the hours if wanted.
double clock_time(const std::string& text) {
  double seconds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int parts = 0; parts < 4; ++parts) {
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc() || number < 0) wrong_time(text);
    seconds = seconds * (parts == 1 && std::count(text.begin(), text.end(), ':') == 3 ? 24 : 60) +
              static_cast<double>(number);
    if (read.ptr == end && parts > 0) return seconds;
    if (read.ptr == end || *read.ptr != ':') break;
    at = read.ptr + 1;
  }
  wrong_time(text);
}

}  // namespace

double parse_seconds(const std::string& text) {
  if (text.find(':') != std::string::npos) return clock_time(text);
  double seconds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    double number = 0;
    const auto read = std::from_chars(at, end, number);
    const double unit = read.ptr == end ? (at == text.data() ? 1 : 0) : unit_of(*read.ptr);
    if (read.ec != std::errc() || unit == 0 || !(number >= 0)) wrong_time(text);
    seconds += number * unit;
    at = read.ptr == end ? end : read.ptr + 1;
  }
  if (text.empty()) wrong_time(text);
  return seconds;
}

MaxTime::MaxTime(double seconds) : seconds_(seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw Error(fmt::format("max_time: must be more than 0 seconds, not {}", seconds));
}

void MaxTime::step(Run& run) {
  if (run.seconds() >= seconds_) run.stop(fmt::format("{:.6g} seconds have passed", seconds_));
}

const CallbackDef& max_time_callback() {
  static const CallbackDef def{"max_time",
                               "ends the run after so long",
                               "time",
                               {{"time", OptionType::text, {}, "seconds, \"1h30m\" or \"01:30:00\"", true}},
                               [](const Options& o) -> std::shared_ptr<Callback> {
                                 return std::make_shared<MaxTime>(parse_seconds(o.at<std::string>("time")));
                               }};
  return def;
}

}  // namespace tightloop::train
