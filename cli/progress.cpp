// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace tightloop::cli {
namespace {

constexpr int kLongestBar = 28, kShortestBar = 8;

struct Part {
  std::string text;
  int rank;  ///< 0 stays longest
};

std::string bar(double share, int width, bool colour) {
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  const std::string done(static_cast<std::size_t>(full), '#');
  const std::string rest(static_cast<std::size_t>(width - full), '.');
  return "[" + (colour ? "\033[32m" + done + "\033[0m" : done) + rest + "] ";
}

int columns(const std::vector<Part>& parts) {
  int out = 0;
  for (const Part& p : parts) out += static_cast<int>(p.text.size()) + 2;
  return out - 2;
}

}  // namespace

std::string rate_text(double samples_per_s) {
  if (samples_per_s >= 1e6) return fmt::format("{:.1f} M samples/s", samples_per_s / 1e6);
  if (samples_per_s >= 1e4) return fmt::format("{:.0f} k samples/s", samples_per_s / 1e3);
  return fmt::format("{:.0f} samples/s", samples_per_s);
}

std::string time_text(double seconds) {
  if (!(seconds < 1e9)) return "long";
  const auto s = static_cast<std::int64_t>(std::ceil(std::max(seconds, 0.0)));
  if (s >= 100 * 3600) return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string ProgressLine::text(int width, bool colour) const {
  const train::Progress& p = progress;
  const double share = static_cast<double>(p.step) / static_cast<double>(std::max<std::int64_t>(1, p.steps));
  std::vector<Part> parts{{fmt::format("{:3.0f}%", 100 * share), 0},
                          {fmt::format("epoch {}/{}", p.epoch, p.epochs), 1},
                          {fmt::format("loss {:.5g}", p.loss), 2}};
  if (validation) {
    parts.push_back({fmt::format("validation {:.5g}", validation->loss), 4});
    for (std::size_t i = 0; i < std::min(metrics.size(), validation->metrics.size()); ++i)
      parts.push_back(
          {fmt::format("{} {:.4g}", metrics[i], validation->metrics[i]), 6 + static_cast<int>(i)});
  }
  parts.push_back({fmt::format("lr {:.3g}", p.lr), 1000});
  parts.push_back({rate_text(p.samples_per_s), 5});
  if (seconds_left) parts.push_back({time_text(*seconds_left) + " left", 3});
  const int room = std::max(width - 1, 1);
  while (parts.size() > 1 && columns(parts) > room)
    parts.erase(
        std::max_element(parts.begin(), parts.end(), [](auto& a, auto& b) { return a.rank < b.rank; }));
  std::string out = parts[0].text;
  for (std::size_t i = 1; i < parts.size(); ++i) out += "  " + parts[i].text;
  const int left = room - static_cast<int>(out.size()) - 3;
  return left < kShortestBar ? out : bar(share, std::min(left, kLongestBar), colour) + out;
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

}  // namespace tightloop::cli
