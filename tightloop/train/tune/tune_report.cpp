// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/page.h>
#include <tightloop/train/tune/tune_report.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train::tune {
namespace {

std::string gain_text(const Outcome& o) {
  if (!o.gain) return "-";
  return fmt::format("{:.2f} x ({:.2f} to {:.2f})", o.gain->middle, o.gain->low, o.gain->high);
}

std::string memory_text(const Outcome& o, std::size_t before) {
  if (!o.memory || before == 0) return "-";
  const double change = static_cast<double>(*o.memory) / static_cast<double>(before) - 1;
  return std::fabs(change) < 0.0005 ? "same" : fmt::format("{:+.1f} %", 100 * change);
}

std::string loss_text(const Outcome& o, const TuneResult& result) {
  if (!o.loss || !result.loss) return "-";
  const double before = *result.loss;
  if (*o.loss == before) return "same";
  return fmt::format("{} from {}", report::number_text(*o.loss), report::number_text(before));
}

std::string samples_per_s(double seconds_per_sample) {
  return seconds_per_sample > 0 ? report::rate_text(1 / seconds_per_sample) : "-";
}

std::string bar(double share, int colour) {
  return fmt::format("<div class=\"bar c{}\"><span style=\"width:{:.1f}%\"></span></div>\n", colour,
                     100 * share);
}

/// Two bars: the time for the same samples before and after.
std::string bars(const TuneResult& r) {
  if (!r.confirmed || r.taken.empty()) return "";
  return "<p class=note>Time for the same samples, as it was</p>\n" + bar(1, 5) +
         "<p class=note>and tuned</p>\n" + bar(1 / r.confirmed->middle, 0);
}

std::string list(const std::vector<std::string>& texts) {
  std::string out = "<ul class=notes>";
  for (const auto& text : texts) out += "<li>" + report::html(text) + "</li>";
  return out + "</ul>\n";
}

std::string changes(const TuneResult& r) {
  if (r.taken.empty()) return "";
  std::string out = "<pre>";
  for (const auto& setting : r.taken) out += report::html(setting) + "\n";
  return out + "</pre>\n";
}

}  // namespace

report::Table tune_table(const TuneResult& result) {
  report::Table out{.caption = "",
                    .head = {"move", "how", "gain", "memory", "loss", "taken, or why not"},
                    .left = {true, true, false, false, false, true}};
  const auto add = [&](const Outcome& o) {
    out.rows.push_back({o.move, o.label.empty() ? "-" : o.label, gain_text(o), memory_text(o, result.memory),
                        loss_text(o, result), o.why});
  };
  for (const Outcome& o : result.outcomes)
    if (!o.label.empty()) add(o);
  for (const Outcome& o : result.outcomes)
    if (o.label.empty()) add(o);
  return out;
}

std::vector<std::string> tune_notes(const TuneResult& r, const TuneOptions& o, std::int64_t loss_samples) {
  std::vector<std::string> out{fmt::format(
      "A gain is the time of the job over the time with the move, for the same number of samples, with "
      "evaluation, "
      "logging and checkpoints as the job asks for them. It is the median of trials in turn, between the "
      "bounds "
      "that hold the true median with {:.0f} % ({} trials and more), below that the least and the largest.",
      100 * o.level, 5)};
  out.push_back(fmt::format("A gain below {:.0f} %, or whose lower bound is not above 1, counts as noise.",
                            100 * o.least_gain));
  if (r.loss)
    out.push_back(
        fmt::format("Losses are compared after {} samples, on the same rows: {} for the job as it is. A move "
                    "may be {} higher, which "
                    "is {:.0f} % or what another seed changes, whichever is more.",
                    report::count_text(loss_samples), report::number_text(*r.loss),
                    report::number_text(r.allowance), 100 * o.band));
  return out;
}

std::string tune_html(const TuneResult& r, const TuneOptions& options, const TunePage& page) {
  using report::section;
  std::vector<std::pair<std::string, std::string>> tiles{
      {"speed before", samples_per_s(r.seconds_per_sample)}};
  if (r.confirmed && !r.taken.empty()) {
    tiles.emplace_back("speed tuned", samples_per_s(r.seconds_per_sample / r.confirmed->middle));
    tiles.emplace_back("gain", fmt::format("{:.2f} x", r.confirmed->middle));
  }
  tiles.emplace_back("the search took", report::seconds_text(r.seconds));
  const std::string lead = "<p class=lead>" + report::html(r.ending) + "</p>\n";
  const std::string body =
      section("result", "", lead + report::tiles(tiles) + bars(r)) +
      section("moves", "Moves", report::table_html(tune_table(r))) +
      section("changes", "What is changed", changes(r)) +
      section("notes", "How it was measured", list(tune_notes(r, options, page.loss_samples))) +
      section("job", page.tuned_file, page.job.empty() ? "" : "<pre>" + report::html(page.job) + "</pre>\n");
  return report::page(page.title, "A search for a faster job by Tightloop", body);
}

}  // namespace tightloop::train::tune
