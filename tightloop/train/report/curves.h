// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/report/metric_table.h>

#include <cstddef>
#include <optional>
#include <string>

namespace tightloop::train::report {

/// "validation loss" for validation_loss
std::string readable(const std::string& column);

/// Loss, metrics, rate and speed by epoch, the best epoch marked; and the loss by step where `steps` is the
/// path of a steps.npy.
std::string curves_html(const MetricTable& table, std::optional<std::size_t> best,
                        const std::string& steps = "");

}  // namespace tightloop::train::report
