// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/drawings.h>
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/page.h>
#include <tightloop/train/report/table.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace tightloop::train {
namespace profile {
namespace {

using report::html;
using report::percent_text;

std::string micros(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.2f} us", 1e6 * seconds) : report::seconds_text(seconds);
}

std::string verdict(const Profile& p) {
  std::string out = "<p class=lead>" + html(verdict_text(p)) + "</p>\n";
  std::vector<std::pair<std::string, std::string>> tiles{
      {"a step", micros(p.step)},
      {"samples/s", report::count_text(static_cast<std::int64_t>(static_cast<double>(p.setting.batch) /
                                                                 std::max(whole_step(p), 1e-12)))},
      {"of the machine's limit", percent_text(p.floor() / std::max(p.step, 1e-12))},
      {"threads", fmt::format("{:.2g}", p.threads)},
      {"f32 peak", fmt::format("{:.4g} GFLOP/s", p.peak_gflops)},
      {"read bandwidth", fmt::format("{:.4g} GB/s", p.bandwidth)}};
  if (p.counters) {
    const PerfCounts& c = *p.counters;
    tiles.emplace_back("instructions a cycle",
                       fmt::format("{:.2f}", c.instructions / std::max(c.cycles, 1.0)));
    tiles.emplace_back("cache misses a step",
                       fmt::format("{:.3g}", c.cache_misses / static_cast<double>(p.steps)));
  }
  return out + report::tiles(tiles);
}

std::string notes(const Profile& p) {
  std::string out;
  if (p.left_out > 0)
    out +=
        fmt::format("<li>{} more steps were not traced: there was no room for their spans</li>", p.left_out);
  if (p.spans_cut > 0)
    out += fmt::format("<li>{} spans are in the sums but not in the trace, which is full</li>", p.spans_cut);
  return out.empty() ? "" : "<ul class=notes>" + out + "</ul>\n";
}

std::string kernels(const Profile& p) {
  constexpr std::size_t most = 40;
  report::Table table{"", {"kernel", "time", "share", "GFLOP/s", "GB/s", "of the limit"}, {true}};
  for (const ProfileLine& line : profile_lines(p, {.by = ProfileBy::kernel, .most = most})) {
    const auto rate = [&](double amount) {
      return amount > 0 && line.seconds > 0 ? fmt::format("{:.2f}", 1e-9 * amount / line.seconds) : "";
    };
    table.rows.push_back({report::shortened(line.name, 80), micros(line.seconds),
                          percent_text(line.seconds / std::max(p.step, 1e-12)), rate(line.flops),
                          rate(line.bytes),
                          line.floor > 0 && line.seconds > 0 ? percent_text(line.floor / line.seconds) : ""});
  }
  return report::table_html(table);
}

std::string activities(const Profile& p) {
  if (p.activities.empty()) return "";
  report::Table table{"", {"between steps", "times", "each", "of the run"}, {true}};
  for (const ProfileActivity& a : p.activities)
    table.rows.push_back({a.name, report::count_text(a.count),
                          micros(a.seconds / static_cast<double>(std::max<std::int64_t>(a.count, 1))),
                          percent_text(a.seconds / std::max(p.run_seconds, 1e-12))});
  return report::table_html(table);
}

}  // namespace

std::string layer_tree(const Profile& p) {
  struct Sum {
    double seconds = 0, floor = 0;
  };
  std::map<std::string, Sum> sums;  // "layer3" before "layer3.0", since '.' sorts before letters and digits
  for (const ProfileRow& row : p.rows) {
    if (row.kind != SpanKind::kernel || row.path.empty()) continue;
    for (std::size_t at = row.path.find('.');; at = row.path.find('.', at + 1)) {
      Sum& sum = sums[row.path.substr(0, at)];
      sum.seconds += row.seconds;
      sum.floor += row.floor;
      if (at == std::string::npos) break;
    }
  }
  constexpr std::size_t most = 300;
  report::Table table{"", {"layer", "time", "share", "of the limit"}, {true}};
  for (const auto& [path, sum] : sums) {
    if (table.rows.size() == most) break;
    const auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '.'));
    const auto dot = path.rfind('.');
    table.rows.push_back(
        {std::string(3 * depth, ' ') + (dot == std::string::npos ? path : path.substr(dot + 1)),
         micros(sum.seconds), percent_text(sum.seconds / std::max(p.step, 1e-12)),
         sum.seconds > 0 && sum.floor > 0 ? percent_text(sum.floor / sum.seconds) : ""});
  }
  return table.rows.empty() ? ""
                            : report::foldable(fmt::format("{} layers", sums.size()),
                                               report::table_html(table), table.rows.size() > 60);
}

}  // namespace profile

std::string profile_html(const Profile& p) {
  using report::section;
  const std::string body =
      section("verdict", "", profile::verdict(p)) + section("notes", "Notes", profile::notes(p)) +
      section("shares", "Where a step's time goes", profile::shares(p) + profile::activities(p)) +
      section("timeline", "One step", profile::timeline(p)) +
      section("roofline", "Kernels and the machine's limits", profile::roofline(p)) +
      section("kernels", "Kernels", profile::kernels(p)) +
      section("layers", "Layers", profile::layer_tree(p)) + section("memory", "Memory", profile::memory(p));
  return report::page(p.title.empty() ? "profile" : p.title,
                      fmt::format("A profile of {} training steps by Tightloop", p.steps), body);
}

}  // namespace tightloop::train
