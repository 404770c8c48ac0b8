// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/numbers.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train::report {

std::string number_text(double value, int digits) {
  if (std::abs(value) >= std::pow(10, digits) && std::abs(value) < 1e7) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}g}", value, digits);
  const auto e = text.find('e');
  if (e == std::string::npos) return text;
  const std::string sign = text[e + 1] == '-' ? "-" : "";
  const auto first = text.find_first_not_of('0', e + 2);
  return text.substr(0, e + 1) + sign + (first == std::string::npos ? "0" : text.substr(first));
}

std::string count_text(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "\xE2\x80\x93";
  if (seconds < 1e-3) return fmt::format("{:.2g} ms", seconds * 1e3);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string rate_text(double samples_per_s) {
  if (samples_per_s >= 1e6) return fmt::format("{:.3g} M samples/s", samples_per_s / 1e6);
  if (samples_per_s >= 1e4) return fmt::format("{:.0f} k samples/s", samples_per_s / 1e3);
  return fmt::format("{:.0f} samples/s", samples_per_s);
}

std::string place_text(double place) {
  std::string text = fmt::format("{:.1f}", place);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace tightloop::train::report
