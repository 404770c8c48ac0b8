// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/report/chart.h>

#include <string>
#include <string_view>

namespace tightloop::train::report {

/// The loss of each step out of the text of a steps.npy (train/loggers/steps.h), `name` in messages. Of many
/// steps, of each of about a thousand equal stretches the first, the last, the lowest and the highest. Over a
/// billion bytes only every so-many-th step is looked at, `every` then says which. Throws Error for what is
/// no such table.
struct StepCurve {
  Line line;
  std::int64_t every = 1;
};
StepCurve step_curve(std::string_view text, const std::string& name);

/// The same of the file at `path`; no points when it is "" or cannot be read.
StepCurve step_curve_of(const std::string& path);

/// The chart of it; "" when it has no points.
std::string step_chart(const std::string& path);

}  // namespace tightloop::train::report
