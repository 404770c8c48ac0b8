// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics over any number of batches: running states in the step graph, and a number at the end. The result
// does not depend on how the rows are cut into batches.
#include <tightloop/base/array.h>
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::nn {

/// A state of a metric: f64, zero at the start.
struct MetricState {
  std::string name;
  std::vector<std::int64_t> dims = {};
};

class Metric {
 public:
  virtual ~Metric() = default;
  /// Throws Error when the metric does not fit predictions of this type.
  virtual std::vector<MetricState> states(const TensorType& prediction) const = 0;
  /// The states after one more batch. Throws Error on shapes that do not fit.
  virtual std::vector<Tensor> update(std::span<const Tensor> states, const Tensor& prediction,
                                     const Tensor& target) const = 0;
  /// The metric of what the states saw; NaN when that was nothing.
  virtual double finish(std::span<const Array> states) const = 0;
};

/// A mean over rows or elements: states `sum` and `count`.
class MeanMetric : public Metric {
 public:
  std::vector<MetricState> states(const TensorType& prediction) const override;
  std::vector<Tensor> update(std::span<const Tensor> states, const Tensor& prediction,
                             const Tensor& target) const override;
  double finish(std::span<const Array> states) const override;

 protected:
  struct Part {
    Tensor sum;    ///< f64[]
    Tensor count;  ///< f64[]
  };
  virtual Part part(const Tensor& prediction, const Tensor& target) const = 0;
};

/// A metric that a job file names. One per file, listed in metrics/index.def.
struct MetricDef {
  std::string_view name;
  std::string_view doc;
  bool greater_is_better = false;
  std::vector<OptionSpec> options;
  std::unique_ptr<Metric> (*build)(const Options& resolved) = nullptr;
};

/// The metrics of metrics/index.def, in its order.
std::span<const MetricDef* const> all_metrics();
/// Null when there is none of this name.
const MetricDef* find_metric(std::string_view name);
/// Checks `given` and builds. Throws Error on an unknown name (suggesting the nearest) or option.
std::unique_ptr<Metric> make_metric(std::string_view name, const Options& given = {});

}  // namespace tightloop::nn
