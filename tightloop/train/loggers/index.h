// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/train/loggers/logger.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

// Their files in a run directory.
inline constexpr const char* kMetricsTable = "metrics.csv";
inline constexpr const char* kJsonLines = "metrics.jsonl";
inline constexpr const char* kStepTable = "steps.npy";
inline constexpr const char* kEventFiles = "events.out.tfevents.";  ///< and more

/// A logger that a job file asks for by name.
struct LoggerDef {
  std::string_view name;
  std::string_view doc;
  std::vector<OptionSpec> options;
  /// Its files go to `folder`, which is touched when the run has started.
  std::shared_ptr<Logger> (*build)(const Options& resolved, const std::string& folder) = nullptr;
};

/// The loggers of loggers/index.def, in its order.
std::span<const LoggerDef* const> all_loggers();
/// Checks `given` and builds. Throws Error on an unknown name, option or value.
std::shared_ptr<Logger> make_logger(std::string_view name, const Options& given, const std::string& folder);

#define TIGHTLOOP_LOGGER(name) const LoggerDef& name##_logger();
#include <tightloop/train/loggers/index.def>
#undef TIGHTLOOP_LOGGER

}  // namespace tightloop::train
