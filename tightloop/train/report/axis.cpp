// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/axis.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>

namespace tightloop::train::report {
namespace {

constexpr double kSlack = 1e-9;  // of a step: what rounding may take from the last tick

/// The round number nearest to span / wanted.
double round_step(double span, int wanted) {
  const double raw = span / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power * 1.2) return factor * power;
  return 10 * power;
}

bool is_range(double low, double high) { return std::isfinite(low) && std::isfinite(high) && low <= high; }

double spacing(const std::vector<double>& ticks) {
  return ticks.size() > 1 ? ticks[1] - ticks[0] : std::abs(ticks.empty() ? 1 : ticks[0]);
}

/// "1e-05" as "1e-5".
std::string exponent_text(double value) {
  std::string text = fmt::format("{:.3g}", value);
  const auto e = text.find('e');
  if (e == std::string::npos) return text;
  const bool minus = text[e + 1] == '-';
  std::size_t digits = e + 2;
  while (digits + 1 < text.size() && text[digits] == '0') ++digits;
  return text.substr(0, e + 1) + (minus ? "-" : "") + text.substr(digits);
}

void add_texts(Axis& axis) {
  const double step = spacing(axis.ticks);
  for (const double t : axis.ticks) axis.texts.push_back(tick_text(t, axis.log ? std::abs(t) : step));
}

/// Every n-th so that at most `most` are left, the last among them.
std::vector<double> thinned(const std::vector<double>& ticks, int most) {
  const auto n = static_cast<std::ptrdiff_t>(ticks.size());
  const std::ptrdiff_t every = std::max<std::ptrdiff_t>(1, (n + most - 1) / most);
  std::vector<double> out;
  for (std::ptrdiff_t i = (n - 1) % every; i < n; i += every)
    out.push_back(ticks[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace

std::vector<double> linear_ticks(double low, double high, int wanted) {
  if (!is_range(low, high)) return {};
  if (low == high) return {low};
  const double step = round_step(high - low, wanted);
  if (!(step > 0) || !std::isfinite(step) || low + step == low || high - step == high) return {low, high};
  std::vector<double> out;
  const double first = std::ceil(low / step - kSlack), last = std::floor(high / step + kSlack);
  for (double i = first; i <= last; ++i) out.push_back(i == 0 ? 0.0 : i * step);
  return out;
}

std::vector<double> log_ticks(double low, double high, int wanted) {
  if (!is_range(low, high) || low <= 0) return {};
  const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  std::vector<double> out;
  for (int e = first; e <= last; ++e) out.push_back(std::pow(10.0, e));
  if (out.size() >= 3) return thinned(out, std::max(wanted, 2));
  out.clear();
  for (int e = first - 1; e <= last; ++e)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double t = factor * std::pow(10.0, e);
      if (t >= low * (1 - kSlack) && t <= high * (1 + kSlack)) out.push_back(t);
    }
  return out;
}

double Axis::at(double value) const {
  if (low == high) return 0.5;
  if (log) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

Axis count_axis(double low, double high, int wanted) {
  Axis out{low, high, false, {}, {}};
  for (const double t : linear_ticks(low, high, wanted))
    if (t == std::floor(t)) out.ticks.push_back(t);
  add_texts(out);
  return out;
}

Axis value_axis(double low, double high, bool log, int wanted) {
  if (!is_range(low, high)) low = 0, high = 1;
  Axis out{low, high, log && low > 0, {}, {}};
  if (out.log && high / low < 1 + 1e-6) out.log = false;
  if (out.log) {
    out.ticks = log_ticks(low, high, wanted);
  } else {
    if (low == high) {
      const double margin = low == 0 ? 1 : std::abs(low) / 2;
      low -= margin, high += margin;
    }
    if (low > 0 && low < high / 2) low = 0;
    const double step = round_step(high - low, wanted);
    low = std::floor(low / step + kSlack) * step, high = std::ceil(high / step - kSlack) * step;
    out.low = low, out.high = high;
    out.ticks = linear_ticks(low, high, wanted);
  }
  add_texts(out);
  return out;
}

std::string tick_text(double value, double step) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e15 || (step < 1e-4 && step > 0) || size < 1e-4) return exponent_text(value);
  for (const auto& [unit, name] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}}) {
    const double by = unit == 1e4 ? 1e3 : unit;
    if (size >= unit) return fmt::format("{:.6g}{}", value / by, name);
  }
  const int decimals =
      std::max(0, static_cast<int>(-std::floor(std::log10(step > 0 ? step : size) + kSlack)));
  return fmt::format("{:.{}f}", value, decimals);
}

bool wants_log(double low, double high) { return is_range(low, high) && low > 0 && high / low >= 30; }

}  // namespace tightloop::train::report
