// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/drawings.h>
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/table.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::profile {
namespace {

constexpr double kMega = 1e6;

/// Shared temporaries that live in each phase, in MB; the phase behind the last is that of the copies.
report::Line live(const backends::StepFacts& facts) {
  report::Line line{"temporaries, MB", {}, {}, 0};
  for (int phase = 0; phase <= facts.phases; ++phase) {
    double bytes = 0;
    for (const auto& b : facts.buffers)
      if (!b.local && b.first <= phase && phase <= b.last) bytes += static_cast<double>(b.bytes);
    line.x.push_back(phase + 1);
    line.y.push_back(bytes / kMega);
  }
  return line;
}

std::string largest(const backends::StepFacts& facts) {
  constexpr std::size_t most = 12;
  report::Table table{"The largest", {"owner", "type", "MB", "phases"}, {true, true}};
  for (const auto& b : facts.buffers) {
    if (table.rows.size() == most) break;
    table.rows.push_back({report::shortened(b.owner, 60), b.type,
                          fmt::format("{:.3f}", static_cast<double>(b.bytes) / kMega),
                          b.local ? "a thread's own" : fmt::format("{}-{}", b.first + 1, b.last + 1)});
  }
  return table.rows.empty() ? "" : report::table_html(table);
}

}  // namespace

std::string memory(const Profile& p) {
  if (p.facts.buffers.empty()) return "";
  report::LineChart chart{.title = "Temporaries that live", .x_name = "phase", .lines = {live(p.facts)}};
  chart.may_be_log = false;
  chart.height = 180;
  return fmt::format(
             "<p>Temporaries share {:.3f} MB; each thread has {:.3f} MB of its own for {} samples at a time. "
             "A phase "
             "ends where the threads wait for each other.</p>\n",
             static_cast<double>(p.facts.arena) / kMega, static_cast<double>(p.facts.local) / kMega,
             p.facts.stretch) +
         "<div class=two>" + report::line_chart(chart) + largest(p.facts) + "</div>\n";
}

}  // namespace tightloop::train::profile
