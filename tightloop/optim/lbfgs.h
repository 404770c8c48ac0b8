// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace tightloop::optim {

enum class LineSearch : std::uint8_t {
  none,          ///< a step of length lr
  strong_wolfe,  ///< optim/line_search.h, from lr on
};

struct LbfgsOptions {
  double lr = 1;
  std::int64_t max_iter = 20;  ///< iterations of a step
  std::int64_t max_eval = 0;   ///< evaluations after which a step ends; 0: max_iter · 5/4, at least 25
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  std::int64_t history_size = 100;
  LineSearch line_search = LineSearch::none;
};

/// How a step, or a whole minimization, ended.
struct Minimum {
  double loss = 0;  ///< where it stands now
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;  ///< of the loss and its gradient
  bool converged = false;        ///< by one of the tolerances: another step would change nothing worth it
};

/// Limited-memory BFGS (Nocedal & Wright, "Numerical optimization", 2006, algorithm 7.4) over one flat
/// vector, as torch.optim.LBFGS. Vectors are f64, whatever the function computes in; the memory is two
/// vectors for each pair of the history.
class LbfgsSearch {
 public:
  /// The value at x; writes its gradient.
  using Function = std::function<double(std::span<const double> x, std::span<double> gradient)>;
  LbfgsSearch(const LbfgsOptions& options, Function function, std::vector<double> start);

  /// At most max_iter iterations; the next step goes on with what this one learned of the curvature. Throws
  /// Error when the value is not finite at the start, or after a move: x() is then the last good point.
  Minimum step();
  const std::vector<double>& x() const { return x_; }
  /// Is called after each iteration with its number, from 1 on through all steps, and the value that it came
  /// to.
  void watch(std::function<void(std::int64_t iteration, double value)> watcher) {
    watcher_ = std::move(watcher);
  }

 private:
  struct Pair {
    std::vector<double> change, gradient_change;
    double product = 0;
  };

  void choose_direction();
  void remember();
  void move(double slope, Minimum& so_far);
  bool gradient_is_small() const;

  LbfgsOptions options_;
  Function function_;
  std::function<void(std::int64_t, double)> watcher_;
  std::vector<double> x_, gradient_, last_gradient_, direction_;
  double value_ = 0, length_ = 0, scale_ = 1;
  std::int64_t iterations_ = 0;
  std::deque<Pair> history_;
  bool known_ = false;  ///< value_ and gradient_ belong to x_
};

/// L-BFGS as a job file and the Trainer take it: each epoch is one step of an LbfgsSearch for the loss over
/// all training rows. Not an update rule: update() throws Error. Without a Trainer there is optim/minimize.h.
class Lbfgs final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Lbfgs(LbfgsOptions options = {.max_iter = 1});
  const LbfgsOptions& options() const { return options_; }

  double lr() const override { return options_.lr; }
  double weight_decay() const override { return 0; }
  std::vector<std::string> slots() const override { return {}; }
  Factors prepare(const Tensor&, const Tensor&, double) const override { return {}; }
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  LbfgsOptions options_;
};

}  // namespace tightloop::optim
