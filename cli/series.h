// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/series.h>

#include <cstdint>
#include <string>

namespace tightloop::cli {

/// Trains all runs of a job that asks for several, shows each and the table of all; the exit status.
/// `verify_steps`: first steps of each run beside the interpreter.
int run_series(const train::Job& job, bool resume, std::int64_t verify_steps, bool quiet);

/// The mean and spread of each metric, a line each.
std::string summary_text(const train::SeriesResult& result);

}  // namespace tightloop::cli
