// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

/// What a model predicts for one of its outputs, against the truth: sums over all rows, and some of the rows.
class Residuals {
 public:
  /// `every`: of that many rows one is kept as a point.
  explicit Residuals(std::string name = "", std::int64_t every = 1) : name_(std::move(name)), every_(every) {}

  /// Rows where one of the two is not finite count apart.
  void add(double truth, double predicted);

  const std::string& name() const { return name_; }
  std::int64_t count() const { return count_; }
  std::int64_t lost() const { return lost_; }  ///< not finite
  double mae() const;                          ///< mean |predicted - truth|
  double rmse() const;
  double bias() const;                         ///< mean of predicted - truth
  double largest() const { return largest_; }  ///< |predicted - truth|
  double r2() const;                           ///< as scikit-learn's; NaN for a truth that never changes
  const std::vector<double>& truth() const { return truth_; }  ///< of the points
  const std::vector<double>& predicted() const { return predicted_; }

 private:
  std::string name_;
  std::int64_t every_, count_ = 0, lost_ = 0;
  double first_ = 0;  ///< truth, taken off the others so that the sums stay exact
  double sum_ = 0, squares_ = 0, error_ = 0, absolute_ = 0, error_squares_ = 0, largest_ = 0;
  std::vector<double> truth_, predicted_;
};

namespace report {

/// Predicted against true values and the residuals of each of the first outputs, and a table of all.
std::string residuals_html(const std::vector<Residuals>& outputs);

}  // namespace report
}  // namespace tightloop::train
