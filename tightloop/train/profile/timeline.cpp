// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/drawings.h>
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tightloop::train::profile {
namespace {

using report::html;
using report::place_text;

constexpr std::array kCategories{
    "forward", "backward", "update", "data", "waiting for threads", "waiting for samples", "choosing rows"};
constexpr std::size_t kMostBoxes = 600;  // of a timeline: shorter spans are put together beyond

std::string category_of(const Profile& p, const Spans::Name& name) {
  for (const ProfileRow& row : p.rows)
    if (name.kernel >= 0 ? row.kernel == name.kernel : row.label == name.text) return row.category;
  return "";
}

/// The step whose length is nearest to the median.
const TraceSpan* typical_step(const Profile& p) {
  const TraceSpan* best = nullptr;
  for (const TraceSpan& span : p.trace) {
    if (span.thread != 0 || p.names[static_cast<std::size_t>(span.name)].kind != SpanKind::step) continue;
    const auto off = [&](const TraceSpan& s) { return std::abs(s.end - s.begin - p.step_median); };
    if (best == nullptr || off(span) < off(*best)) best = &span;
  }
  return best;
}

std::vector<const TraceSpan*> spans_in(const Profile& p, const TraceSpan& step) {
  std::vector<const TraceSpan*> out;
  for (const TraceSpan& span : p.trace) {
    const SpanKind kind = p.names[static_cast<std::size_t>(span.name)].kind;
    if (kind < SpanKind::step && span.step == step.step && span.begin < step.end && span.end > step.begin)
      out.push_back(&span);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto* a, const auto* b) { return a->end - a->begin > b->end - b->begin; });
  if (out.size() > kMostBoxes) out.resize(kMostBoxes);
  return out;
}

/// A line for each thread, the first on top.
report::Axis lanes(int threads) {
  report::Axis y{0, static_cast<double>(threads), false, {}, {}};
  for (int t = 0; t < threads; ++t) {
    y.ticks.push_back(threads - t - 0.5);
    y.texts.push_back(fmt::format("{}", t));
  }
  return y;
}

std::string box(const Profile& p, const TraceSpan& span, const TraceSpan& step, int threads) {
  const double length = std::max(step.end - step.begin, 1e-12);
  const double left = 1000 * std::clamp((span.begin - step.begin) / length, 0.0, 1.0);
  const double right = 1000 * std::clamp((span.end - step.begin) / length, 0.0, 1.0);
  const double lane = 1000.0 / threads;
  const Spans::Name& name = p.names[static_cast<std::size_t>(span.name)];
  return fmt::format(
      "<rect class=c{} fill=currentColor x={} y={} width={} height={}><title>{}: {:.2f} us</title></rect>",
      colour_of(category_of(p, name)), place_text(left), place_text(lane * (span.thread + 0.1)),
      place_text(std::max(right - left, 0.3)), place_text(0.8 * lane), html(name.text),
      1e6 * (span.end - span.begin));
}

}  // namespace

int colour_of(const std::string& category) {
  const auto at = std::find(kCategories.begin(), kCategories.end(), category);
  return static_cast<int>(at - kCategories.begin());
}

std::string shares(const Profile& p) {
  const auto lines = profile_lines(p, {.by = ProfileBy::category, .most = 0});
  if (p.step <= 0) return "";
  std::string bar = "<div class=bar role=img aria-label=\"Shares of a step, as in the table below\">", rows;
  for (const ProfileLine& line : lines) {
    const double share = line.seconds / p.step;
    const int colour = colour_of(line.name);
    bar += fmt::format("<span class=c{} style=\"flex:{:.4f}\" title=\"{}: {}\"></span>", colour, share,
                       html(line.name), report::percent_text(share));
    rows += fmt::format(
        "<tr><th scope=row class=l><span class=\"key c{}\"></span>{}</th><td>{:.2f} "
        "us</td><td>{}</td></tr>\n",
        colour, html(line.name), 1e6 * line.seconds, report::percent_text(share));
  }
  return bar +
         "</div>\n<div class=wide><table><thead><tr><th scope=col class=l>part of a step</th>"
         "<th scope=col>time</th><th scope=col>share</th></tr></thead><tbody>" +
         rows + "</tbody></table></div>\n";
}

std::string timeline(const Profile& p) {
  const TraceSpan* step = typical_step(p);
  if (step == nullptr) return "";
  const auto spans = spans_in(p, *step);
  int threads = 1;
  for (const TraceSpan* s : spans) threads = std::max(threads, s->thread + 1);
  std::string boxes;
  for (const TraceSpan* s : spans) boxes += box(p, *s, *step, threads);
  const double length = 1e6 * (step->end - step->begin);
  report::Axis x{0, length, false, report::linear_ticks(0, length, 6), {}};
  for (const double t : x.ticks)
    x.texts.push_back(report::tick_text(t, x.ticks.size() > 1 ? x.ticks[1] - x.ticks[0] : 1));
  const std::string name = fmt::format("Step {}: {} spans of {} threads in {:.2f} microseconds", step->step,
                                       spans.size(), threads, length);
  return fmt::format(
      "<figure class=\"chart timeline\"><figcaption>Step {} <small>by thread</small></figcaption>{}"
      "</figure>\n",
      step->step, report::frame({x, "us"}, lanes(threads), 84 + 28 * threads, name, boxes, ""));
}

}  // namespace tightloop::train::profile
