// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

namespace tightloop::train {

/// Ends a run after so many seconds, those before a resume included. Looks at the clock between chunks of
/// steps.
class MaxTime final : public Callback {
 public:
  /// Throws Error unless seconds > 0.
  explicit MaxTime(double seconds);
  std::string_view name() const override { return "max_time"; }
  void step(Run& run) override;

 private:
  double seconds_;
};

/// Seconds of "90", "1h30m", "2d" or "00:30:00". Throws Error on anything else.
double parse_seconds(const std::string& text);

}  // namespace tightloop::train
