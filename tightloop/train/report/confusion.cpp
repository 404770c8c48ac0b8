// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/confusion.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/table.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <tuple>

namespace tightloop::train {

std::int64_t Confusion::at(std::int64_t truth, std::int64_t predicted) const {
  const auto found = counts_.find(truth * classes_ + predicted);
  return found == counts_.end() ? 0 : found->second;
}

std::string Confusion::name(std::int64_t of) const {
  const auto i = static_cast<std::size_t>(of);
  return i < names_.size() ? names_[i] : std::to_string(of);
}

std::vector<Confusion::Score> Confusion::scores() const {
  std::vector<Score> out(static_cast<std::size_t>(classes_));
  std::vector<std::int64_t> taken(out.size());
  for (const auto& [cell, times] : counts_) {
    out[static_cast<std::size_t>(cell / classes_)].rows += times;
    taken[static_cast<std::size_t>(cell % classes_)] += times;
  }
  for (std::int64_t c = 0; c < classes_; ++c) {
    Score& s = out[static_cast<std::size_t>(c)];
    const double hits = static_cast<double>(at(c, c));
    const auto predicted = static_cast<double>(taken[static_cast<std::size_t>(c)]);
    const auto rows = static_cast<double>(s.rows);
    s.of = c;
    s.precision = predicted > 0 ? hits / predicted : 0;
    s.recall = rows > 0 ? hits / rows : 0;
    s.f1 = predicted + rows > 0 ? 2 * hits / (predicted + rows) : 0;
  }
  return out;
}

std::vector<Confusion::Pair> Confusion::confused(std::size_t most) const {
  std::vector<Pair> out;
  for (const auto& [cell, times] : counts_)
    if (cell / classes_ != cell % classes_) out.push_back({cell / classes_, cell % classes_, times});
  std::sort(out.begin(), out.end(), [](const Pair& a, const Pair& b) {
    return std::tuple(-a.rows, a.truth, a.predicted) < std::tuple(-b.rows, b.truth, b.predicted);
  });
  if (out.size() > most) out.resize(most);
  return out;
}

namespace report {
namespace {

constexpr std::size_t kPairs = 20;    // of those most confused
constexpr std::size_t kScores = 100;  // classes in the table
constexpr std::size_t kName = 24;     // characters of a class

std::string cell_html(const Confusion& c, std::int64_t truth, std::int64_t predicted, std::int64_t rows) {
  const std::int64_t times = c.at(truth, predicted);
  const std::string tag = truth == predicted ? "td class=hit" : "td";
  if (times == 0) return fmt::format("<{}><i>\xC2\xB7</i></td>", tag);
  const double share = static_cast<double>(times) / static_cast<double>(std::max<std::int64_t>(rows, 1));
  return fmt::format("<{} style=\"--v:{}\" title=\"{} taken for {}: {}\">{}</td>", tag,
                     number_text(truth == predicted ? share : std::sqrt(share), 2), html(c.name(truth)),
                     html(c.name(predicted)), percent_text(share), times);
}

std::string matrix_html(const Confusion& c, const std::vector<Confusion::Score>& scores) {
  std::string out =
      "<div class=wide><table class=matrix><caption>Rows are true classes, columns what the model "
      "took them for; shades are shares of the row.</caption><thead><tr><td></td>";
  for (const auto& s : scores)
    out += fmt::format("<th scope=col><span>{}</span></th>", html(shortened(c.name(s.of), kName)));
  out += "</tr></thead><tbody>";
  for (const auto& s : scores) {
    out += fmt::format("<tr><th scope=row>{}</th>", html(shortened(c.name(s.of), kName)));
    for (std::int64_t p = 0; p < c.classes(); ++p) out += cell_html(c, s.of, p, s.rows);
    out += "</tr>";
  }
  return out + "</tbody></table></div>\n";
}

std::string pairs_html(const Confusion& c, const std::vector<Confusion::Score>& scores) {
  Table table{"Most confused", {"true class", "taken for", "rows", "of the class"}, {true, true}};
  for (const auto& pair : c.confused(kPairs)) {
    const auto rows = scores[static_cast<std::size_t>(pair.truth)].rows;
    table.rows.push_back({c.name(pair.truth), c.name(pair.predicted), count_text(pair.rows),
                          percent_text(static_cast<double>(pair.rows) / static_cast<double>(rows))});
  }
  return table.rows.empty() ? "" : table_html(table);
}

std::string scores_html(const Confusion& c, std::vector<Confusion::Score> scores) {
  Table table{"Classes", {"class", "precision", "recall", "F1", "rows"}, {true}};
  const std::size_t all = scores.size();
  if (all > kScores) {
    std::erase_if(scores, [](const auto& s) { return s.rows == 0; });
    std::stable_sort(scores.begin(), scores.end(), [](const auto& a, const auto& b) { return a.f1 < b.f1; });
    if (scores.size() > kScores) scores.resize(kScores);
    table.caption = fmt::format("The {} of {} classes with the lowest F1", scores.size(),
                                count_text(static_cast<std::int64_t>(all)));
  }
  const auto text = [](double v) { return fmt::format("{:.3f}", v); };
  for (const auto& s : scores)
    table.rows.push_back({c.name(s.of), text(s.precision), text(s.recall), text(s.f1), count_text(s.rows)});
  return table_html(table);
}

}  // namespace

std::string confusion_html(const Confusion& c) {
  const auto scores = c.scores();
  const bool matrix = c.classes() <= kMatrixClasses;
  return "<div class=two>" + (matrix ? matrix_html(c, scores) : pairs_html(c, scores)) +
         scores_html(c, scores) + "</div>\n";
}

}  // namespace report
}  // namespace tightloop::train
