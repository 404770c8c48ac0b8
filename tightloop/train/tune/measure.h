// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tightloop::train::tune {

/// Keys of a job that are changed: "train.threads=1", as behind --set. Later ones count.
using Settings = std::vector<std::string>;

/// The user wants to stop.
struct Interrupted {};

/// What the search for a faster job sees of the world. A job that cannot be run with some settings throws
/// Error from all but now().
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Trains for about `seconds` and keeps nothing: seconds that a sample costs, with its share of what the
  /// job does beside steps (evaluation, logging, checkpoints).
  virtual double seconds_per_sample(const Settings& settings, double seconds) = 0;
  /// The loss on the same samples after training on the same number of samples, whatever the settings.
  /// `other_seed`: begins with other weights and another order.
  virtual double loss(const Settings& settings, bool other_seed) = 0;
  /// Bytes that the training holds.
  virtual std::size_t memory(const Settings& settings) = 0;
  /// Seconds on a clock that only goes forward.
  virtual double now() = 0;
};

}  // namespace tightloop::train::tune
