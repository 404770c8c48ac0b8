// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/residuals.h>
#include <tightloop/train/report/scatter.h>
#include <tightloop/train/report/table.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::train {

void Residuals::add(double truth, double predicted) {
  if (!std::isfinite(truth) || !std::isfinite(predicted)) {
    ++lost_;
    return;
  }
  if (count_ == 0) first_ = truth;
  if (count_ % every_ == 0) truth_.push_back(truth), predicted_.push_back(predicted);
  ++count_;
  const double error = predicted - truth, moved = truth - first_;
  sum_ += moved, squares_ += moved * moved;
  error_ += error, absolute_ += std::abs(error), error_squares_ += error * error;
  largest_ = std::max(largest_, std::abs(error));
}

double Residuals::mae() const { return absolute_ / static_cast<double>(count_); }
double Residuals::rmse() const { return std::sqrt(error_squares_ / static_cast<double>(count_)); }
double Residuals::bias() const { return error_ / static_cast<double>(count_); }

double Residuals::r2() const {
  const double spread = squares_ - sum_ * sum_ / static_cast<double>(count_);
  return spread > 0 ? 1 - error_squares_ / spread : std::numeric_limits<double>::quiet_NaN();
}

namespace report {
namespace {

constexpr std::size_t kPlotted = 3;

std::string plots(const Residuals& r) {
  std::vector<double> residual(r.truth().size());
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = r.predicted()[i] - r.truth()[i];
  return "<div class=two>" +
         scatter_chart({.title = r.name() + ": predicted against true",
                        .x_name = "true",
                        .y_name = "",
                        .x = r.truth(),
                        .y = r.predicted()}) +
         scatter_chart({.title = r.name() + ": residuals",
                        .x_name = "predicted",
                        .y_name = "predicted \xE2\x88\x92 true",
                        .x = r.predicted(),
                        .y = residual,
                        .guide = Guide::zero}) +
         "</div>\n";
}

}  // namespace

std::string residuals_html(const std::vector<Residuals>& outputs) {
  Table table{"", {"output", "RMSE", "MAE", "R\xC2\xB2", "mean residual", "largest", "values"}, {true}};
  std::string out;
  bool lost = false;
  for (const Residuals& r : outputs) {
    lost = lost || r.lost() > 0;
    if (r.count() == 0) continue;
    if (table.rows.size() < kPlotted) out += plots(r);
    const std::string r2 = std::isnan(r.r2()) ? "\xE2\x80\x93" : number_text(r.r2());
    table.rows.push_back({r.name(), number_text(r.rmse()), number_text(r.mae()), r2, number_text(r.bias()),
                          number_text(r.largest()), count_text(r.count())});
  }
  if (lost) out += "<p class=note>Predictions or targets that are not finite are left out.</p>\n";
  return table.rows.empty() ? out : out + table_html(table);
}

}  // namespace report
}  // namespace tightloop::train
