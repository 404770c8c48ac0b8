// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/time.h>

#include <fmt/format.h>
#include <algorithm>
#include <vector>

namespace tightloop::train::report {
namespace {

struct Part {
  const char* name;
  double seconds;
};

/// What took no time worth a line is left out.
std::vector<Part> parts_of(const TimeSplit& t) {
  const double named = t.compiling + t.steps + t.waiting + t.evaluation + t.callbacks;
  std::vector<Part> out;
  for (const Part& p :
       {Part{"steps", t.steps}, Part{"waiting for samples", t.waiting}, Part{"evaluation", t.evaluation},
        Part{"callbacks and checkpoints", t.callbacks}, Part{"reading the data", t.reading},
        Part{"compiling the step", t.compiling}, Part{"everything else", std::max(0.0, t.total - named)}})
    if (p.seconds >= 1e-5) out.push_back(p);
  return out;
}

}  // namespace

std::string time_html(const TimeSplit& time) {
  const auto parts = parts_of(time);
  double total = 0;
  for (const Part& p : parts) total += p.seconds;
  if (total <= 0) return "";
  std::string bar = "<div class=bar role=img aria-label=\"Shares of the time, as in the table below\">";
  std::string rows;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = parts[i].seconds / total;
    bar += fmt::format("<span class=c{} style=\"flex:{:.4f}\" title=\"{}: {}\"></span>", i, share,
                       parts[i].name, percent_text(share));
    rows += fmt::format(
        "<tr><th scope=row class=l><span class=\"key c{}\"></span>{}</th><td>{}</td><td>{}</td></tr>\n", i,
        parts[i].name, seconds_text(parts[i].seconds), percent_text(share));
  }
  return bar +
         "</div>\n<div class=wide><table><thead><tr><th scope=col class=l>part</th><th scope=col>time</th>"
         "<th scope=col>share</th></tr></thead><tbody>" +
         rows +
         fmt::format(
             "<tr><th scope=row class=l>together</th><td>{}</td><td></td></tr></tbody></table></div>\n",
             seconds_text(total));
}

}  // namespace tightloop::train::report
