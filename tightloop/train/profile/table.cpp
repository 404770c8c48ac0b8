// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/table.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// The first `depth` parts of "layer3.0.conv1"; all of them for 0.
std::string cut(const std::string& path, int depth) {
  std::size_t at = 0;
  for (int i = 0; i < depth; ++i) {
    at = path.find('.', at);
    if (at == std::string::npos) return path;
    if (i + 1 < depth) ++at;
  }
  return depth == 0 ? path : path.substr(0, at);
}

std::string name_of(const ProfileRow& row, const ProfileTableOptions& o) {
  switch (o.by) {
    case ProfileBy::kernel:
      return row.label;
    case ProfileBy::category:
      return row.category;
    case ProfileBy::layer:
      break;
  }
  if (row.kind != SpanKind::kernel) return "(" + row.category + ")";
  return row.path.empty() ? "(" + row.category + ", in no layer)" : cut(row.path, o.depth);
}

/// By what lines are sorted: the largest first, but names as they are spelt.
double key_of(const ProfileLine& line, ProfileSort sort) {
  switch (sort) {
    case ProfileSort::calls:
      return line.calls;
    case ProfileSort::flops:
      return line.flops;
    case ProfileSort::bytes:
      return line.bytes;
    case ProfileSort::roofline:
      return line.seconds > 0 ? line.floor / line.seconds : 0;
    case ProfileSort::name:
    case ProfileSort::time:
      break;
  }
  return line.seconds;
}

void add(ProfileLine& to, const ProfileLine& line) {
  to.seconds += line.seconds;
  to.calls += line.calls;
  to.flops += line.flops;
  to.bytes += line.bytes;
  to.floor += line.floor;
}

std::string time_text(double seconds) { return fmt::format("{:.2f}", 1e6 * seconds); }

std::string rate_text(double amount, double seconds) {
  return amount <= 0 || seconds <= 0 ? "" : fmt::format("{:.2f}", 1e-9 * amount / seconds);
}

std::vector<std::string> texts(const ProfileLine& line, double step) {
  const double share = line.seconds > 0 ? line.floor / line.seconds : 0;
  return {report::shortened(line.name, 64),
          time_text(line.seconds),
          fmt::format("{:.1f} %", 100 * line.seconds / std::max(step, 1e-12)),
          fmt::format("{:.4g}", line.calls),
          rate_text(line.flops, line.seconds),
          rate_text(line.bytes, line.seconds),
          share > 0 ? fmt::format("{:.0f} % {}", 100 * share, line.by_memory ? "mem" : "cpu") : ""};
}

std::string counters_text(const Profile& p) {
  if (!p.counters) return "";
  const PerfCounts& c = *p.counters;
  return fmt::format("{:.2f} instructions a cycle, {:.3g} cache misses a step\n",
                     c.instructions / std::max(c.cycles, 1.0), c.cache_misses / static_cast<double>(p.steps));
}

std::string bounds_text(const Profile& p) {
  std::string out;
  if (p.left_out > 0)
    out += fmt::format("{} more steps were not traced: there was no room for their spans\n", p.left_out);
  if (p.spans_cut > 0)
    out += fmt::format("{} spans are in these sums but not in the trace, which is full\n", p.spans_cut);
  return out;
}

}  // namespace

std::vector<ProfileLine> profile_lines(const Profile& profile, const ProfileTableOptions& o) {
  std::vector<ProfileLine> out;
  std::vector<double> memory;
  for (const ProfileRow& row : profile.rows) {
    const std::string name = name_of(row, o);
    auto at = std::find_if(out.begin(), out.end(), [&](const ProfileLine& l) { return l.name == name; });
    if (at == out.end()) {
      at = out.insert(out.end(), ProfileLine{name});
      memory.push_back(0);
    }
    add(*at, {name, row.seconds, row.calls, row.flops, row.bytes, row.floor});
    double& own = memory[static_cast<std::size_t>(at - out.begin())];
    own += row.by_memory ? row.floor : 0;
    at->by_memory = own > at->floor / 2;
  }
  std::stable_sort(out.begin(), out.end(), [&](const ProfileLine& a, const ProfileLine& b) {
    return o.sort == ProfileSort::name ? a.name < b.name : key_of(a, o.sort) > key_of(b, o.sort);
  });
  if (o.most == 0 || out.size() <= o.most) return out;
  ProfileLine others{fmt::format("{} others", out.size() - o.most)};
  for (std::size_t i = o.most; i < out.size(); ++i) add(others, out[i]);
  out.resize(o.most);
  out.push_back(others);
  return out;
}

std::string profile_text(const Profile& p, const ProfileTableOptions& options) {
  if (p.empty()) return "No step was profiled.\n";
  std::string out =
      fmt::format("{} steps of {:.2f} us on {:.2g} thread{}; peak {:.4g} GFLOP/s, {:.4g} GB/s\n", p.steps,
                  1e6 * p.step, p.threads, p.threads > 1 ? "s" : "", p.peak_gflops, p.bandwidth) +
      counters_text(p) + bounds_text(p) + "\n";
  report::Table table{"", {"", "us/step", "share", "calls", "GFLOP/s", "GB/s", "roofline"}, {true}};
  for (const ProfileLine& line : profile_lines(p, options)) table.rows.push_back(texts(line, p.step));
  out += report::table_text(table);
  if (!p.activities.empty()) out += "\nbetween steps, over the whole run:\n";
  for (const ProfileActivity& a : p.activities)
    out += fmt::format("  {:<24} {:>8} times {:>12.2f} us each\n", a.name, a.count,
                       1e6 * a.seconds / static_cast<double>(std::max<std::int64_t>(a.count, 1)));
  return out + "\n" + verdict_text(p) + "\n";
}

}  // namespace tightloop::train
