// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace tightloop::optim {

enum class Direction : std::uint8_t { min, max };  ///< a metric that is better when small, or when large

struct PlateauOptions {
  Direction mode = Direction::min;
  bool mode_of_metric = false;  ///< a Trainer takes the mode of the metric that it watches
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  bool relative = true;  ///< threshold is a share of the best value; else a difference
  std::int64_t cooldown = 0;
  double min_lr = 0;
  double eps = 1e-8;  ///< smaller changes of the rate are left out
};

/// torch.optim.lr_scheduler.ReduceLROnPlateau: the rate falls by `factor` when a metric has not become better
/// for more than `patience` epochs. A metric that is NaN is not better.
class Plateau {
 public:
  /// What goes on in a resumed run.
  struct State {
    double best = std::numeric_limits<double>::quiet_NaN();  ///< NaN: none yet
    std::int64_t bad_epochs = 0;
    std::int64_t cooldown = 0;
    double scale = 1;  ///< of the optimizer's rate
  };

  /// Throws Error for values out of range.
  Plateau(const PlateauOptions& options, double lr);
  /// Takes an epoch's metric; the scale of the rate from now on.
  double next(double metric);

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  bool better(double metric) const;
  void reduce();

  PlateauOptions options_;
  double lr_;
  State state_;
};

/// Throws Error naming schedule reduce_on_plateau for values out of range.
void check(const PlateauOptions& options);

}  // namespace tightloop::optim
