// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>
#include <tightloop/optim/plateau.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

/// What is known of a run before anything is compiled.
struct RunFacts {
  bool validates = false;
  std::vector<std::string> metrics = {};   ///< of the validation part
  std::vector<std::string> measures = {};  ///< what callbacks add to the records of epochs
  std::int64_t epochs = 1;
  const optim::Optimizer* optimizer = nullptr;

  /// train_loss, validation_loss and the others.
  std::vector<std::string> columns() const;
  /// The metric that is watched when none is named: the validation loss, or the training loss.
  std::string usual_metric() const { return validates ? "validation_loss" : "train_loss"; }
  /// Throws Error in the name of `who`, suggesting the nearest, unless epochs have a metric `name`; "" is the
  /// usual one.
  void check_metric(const std::string& who, const std::string& name) const;
};

/// Which values of a metric are better.
optim::Direction direction_of(const std::string& metric);

}  // namespace tightloop::train
