// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/evaluate.h>
#include <tightloop/train/job.h>
#include <tightloop/train/report/confusion.h>
#include <tightloop/train/report/residuals.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// What a model predicts of rows against what is true of them: classes, or values.
struct Outcome {
  std::string rows_name;      ///< "validation rows"
  std::int64_t rows = 0;      ///< that were looked at
  std::int64_t all_rows = 0;  ///< that there are
  std::optional<Confusion> classes = {};
  std::vector<Residuals> outputs = {};
  bool empty() const { return !classes && outputs.empty(); }
};

struct OutcomeOptions {
  std::string rows_name = "validation rows";
  std::vector<std::string> classes = {};  ///< names
  std::int64_t most_rows = 0;             ///< more are looked at here and there; 0: all
  std::int64_t batch = 256;
  CompileOptions compile = {};
};

/// Lets the model predict the rows of `part`. What the loss is says how its output is read: the largest score
/// is the class, the one score of bce and bce_with_logits says yes or no, means are compared with values.
/// Empty for losses whose output is none of these. `part` is as an evaluation sees it. Throws Error as that
/// does.
Outcome outcome_of(const Model& model, const Choice& loss, const DataSpec& data, const DataPart& part,
                   const OutcomeOptions& options = {});

}  // namespace tightloop::train
