// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gradients of a batch, looked at beside the steps of a run.
#include <tightloop/train/session.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// Computes gradients of the batches of a session's steps at the session's present weights; nothing of the
/// session changes. `spec` as the session's before it was walked; all must outlive it.
class GradientProbe {
 public:
  GradientProbe(const Model& model, const nn::LossFn& loss, const DataSpec& spec, Session& session,
                const CompileOptions& options, std::uint64_t seed);
  /// By path, of step `step`: of the batch's own loss, before accumulation, scaling and clipping.
  std::vector<std::pair<std::string, Array>> at(std::int64_t step);

 private:
  Session& session_;
  BoundStep bound_;
};

/// What f16 would make of gradients: elements that are not 0, and those of them that become 0, being at most
/// 2^-25.
struct Underflow {
  std::int64_t elements = 0;
  std::int64_t lost = 0;
  void add(const Array& gradient);
  double share() const {
    return elements == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(elements);
  }
  /// Advice to scale the loss, where more than one element in a hundred is lost; else "".
  std::string warning() const;
};

/// Over the batches of the session's next `steps` steps.
Underflow measure_underflow(GradientProbe& probe, const Session& session, std::int64_t steps = 3);

}  // namespace tightloop::train
