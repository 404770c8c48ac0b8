// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/optim/plateau.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::optim {

void check(const PlateauOptions& o) {
  const auto whole = [](const char* what, std::int64_t value) {
    if (value < 0)
      throw Error(fmt::format("schedule reduce_on_plateau: {} must be 0 or greater, not {}", what, value));
  };
  if (!(o.factor > 0 && o.factor < 1))
    throw Error(fmt::format("schedule reduce_on_plateau: factor must be between 0 and 1, not {}", o.factor));
  whole("patience", o.patience);
  whole("cooldown", o.cooldown);
  for (const double v : {o.threshold, o.min_lr, o.eps})
    if (!(v >= 0) || !std::isfinite(v))
      throw Error(fmt::format(
          "schedule reduce_on_plateau: threshold, min_lr and eps must be finite and 0 or greater, not {}",
          v));
}

Plateau::Plateau(const PlateauOptions& options, double lr) : options_(options), lr_(lr) { check(options); }

bool Plateau::better(double metric) const {
  if (std::isnan(metric)) return false;
  if (std::isnan(state_.best)) return true;
  const bool lower = options_.mode == Direction::min;
  const double step = lower ? -options_.threshold : options_.threshold;
  const double bar = options_.relative ? state_.best * (1 + step) : state_.best + step;
  return lower ? metric < bar : metric > bar;
}

void Plateau::reduce() {
  const double old = lr_ * state_.scale;
  const double reduced = std::max(old * options_.factor, options_.min_lr);
  if (lr_ > 0 && old - reduced > options_.eps)
    state_.scale = reduced == options_.min_lr ? reduced / lr_ : state_.scale * options_.factor;
}

double Plateau::next(double metric) {
  if (better(metric)) {
    state_.best = metric;
    state_.bad_epochs = 0;
  } else {
    ++state_.bad_epochs;
  }
  if (state_.cooldown > 0) {
    --state_.cooldown;
    state_.bad_epochs = 0;
  }
  if (state_.bad_epochs > options_.patience) {
    reduce();
    state_.cooldown = options_.cooldown;
    state_.bad_epochs = 0;
  }
  return state_.scale;
}

}  // namespace tightloop::optim
