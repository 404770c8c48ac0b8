// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>
#include <tightloop/train/report/report.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// The report of a job that has run: its model holds the weights that the run left. Lets the model predict
/// the validation rows once more, or some of them where that would take much longer than the rest of the
/// report (over a second and over a fiftieth of the run); the training rows where there are no others.
ReportData report_of(PreparedJob& prepared, const History& history, const std::vector<std::string>& notes);

/// The metric that the job's early stopping or, without it, its checkpoints watch; "" when none is named.
std::string job_monitor(const Job& job);

}  // namespace tightloop::train
