// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/metrics/class_rows.h>

#include <tightloop/nn/losses/class_target.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

ClassRows class_rows(std::string_view metric, const Tensor& prediction, const Tensor& target,
                     std::optional<std::int64_t> ignore_index) {
  const Tensor scores = classes_last(metric, prediction);
  if (is_floating(target.dtype()) && target.shape() == prediction.shape())
    return {scores, argmax(classes_last(metric, target), -1), {}};
  const ClassTarget t = class_target(metric, scores, target, {}, ignore_index);
  return {scores, t.index, t.kept};
}

Tensor hits(const Tensor& hit, const ClassRows& rows) {
  return sum(cast(rows.kept.defined() ? logical_and(hit, rows.kept) : hit, DType::f64));
}

Tensor counted(const ClassRows& rows) {
  if (rows.kept.defined()) return sum(cast(rows.kept, DType::f64));
  return rows.target.rank() == 0 ? scalar(1, DType::f64) : size(rows.target.shape().count(), DType::f64);
}

}  // namespace tightloop::nn
