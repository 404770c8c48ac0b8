// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradual unfreezing: parameters that join the training in a later epoch.
#include <tightloop/train/model.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tightloop::train {

/// Parameters whose path matches one of `match` ("layer4.*") are frozen before epoch `at` (from 1) and
/// trained from it on.
struct Thaw {
  std::int64_t at = 1;
  std::vector<std::string> match;
  std::string where = {};  ///< "job.toml:5:9: train.unfreeze", for messages
};

/// Freezes and thaws the parameters of a model while a run goes on; at its end they are as they were.
class Stages {
 public:
  /// Throws Error for an epoch below 1 and for patterns that match no parameter. A parameter joins in the
  /// first epoch that matches.
  Stages(const std::vector<Thaw>& thaws, nn::Module* module);
  ~Stages();
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// True when the same parameters are trained in both.
  bool same(std::int64_t epoch, std::int64_t other) const { return before(epoch) == before(other); }
  void set(std::int64_t epoch);

  /// Paths, and the epoch in which each joins.
  const std::map<std::string, std::int64_t>& joins() const { return joins_; }

 private:
  /// How many changes come up to `epoch`.
  std::int64_t before(std::int64_t epoch) const;

  nn::Module* module_;
  std::map<std::string, std::int64_t> joins_;
  std::map<std::string, bool> frozen_;  ///< as it was
};

}  // namespace tightloop::train
