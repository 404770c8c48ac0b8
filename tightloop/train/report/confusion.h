// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tightloop::train {

/// How often rows of each class were taken for each class.
class Confusion {
 public:
  /// `names` may be fewer than the classes, or none: the others are called by their number.
  explicit Confusion(std::int64_t classes = 0, std::vector<std::string> names = {})
      : classes_(classes), names_(std::move(names)) {}

  void add(std::int64_t truth, std::int64_t predicted, std::int64_t times = 1) {
    if (truth < 0 || truth >= classes_ || predicted < 0 || predicted >= classes_) return;
    counts_[truth * classes_ + predicted] += times;
    rows_ += times;
  }

  std::int64_t classes() const { return classes_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t at(std::int64_t truth, std::int64_t predicted) const;
  std::string name(std::int64_t of) const;

  /// Precision: how much of what was taken for the class belongs to it; recall: how much of the class was
  /// found; f1: their harmonic mean. 0 where the divisor is 0, as scikit-learn has it.
  struct Score {
    std::int64_t of = 0;
    double precision = 0, recall = 0, f1 = 0;
    std::int64_t rows = 0;  ///< of the class
  };
  std::vector<Score> scores() const;

  struct Pair {
    std::int64_t truth, predicted, rows;
  };
  /// Pairs of different classes, the most frequent first, at most `most`.
  std::vector<Pair> confused(std::size_t most) const;

 private:
  std::int64_t classes_, rows_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::int64_t, std::int64_t> counts_;  ///< few of many classes' pairs come
};

namespace report {

/// More classes are shown as a list of pairs instead of a matrix.
inline constexpr std::int64_t kMatrixClasses = 30;

/// The matrix (or the most confused pairs) and the scores of the classes.
std::string confusion_html(const Confusion& confusion);

}  // namespace report
}  // namespace tightloop::train
