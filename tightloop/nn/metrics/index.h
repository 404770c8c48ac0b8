// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/metrics/metric.h>

namespace tightloop::nn::metrics {

#define TIGHTLOOP_METRIC(name) const MetricDef& name##_def();
#include <tightloop/nn/metrics/index.def>
#undef TIGHTLOOP_METRIC

}  // namespace tightloop::nn::metrics
