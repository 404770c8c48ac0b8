// SPDX-License-Identifier: Apache-2.0
#pragma once
//   tl::train::write_report("report.html", {.title = "net", .history = history, .metrics = {"accuracy"}});
#include <tightloop/train/history.h>
#include <tightloop/train/report/layers.h>
#include <tightloop/train/report/outcome.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

/// What a report says of the data.
struct DataFacts {
  std::int64_t rows = 0, validation_rows = 0;
  std::string split = {};  ///< a sentence: how the validation rows were chosen
  struct Field {
    std::string name, role, type, normalized;
  };
  std::vector<Field> fields = {};
  struct Class {
    std::string name;
    std::int64_t rows = 0, validation_rows = 0;
  };
  std::vector<Class> classes = {};
};

/// What a report shows. Everything but the history may be left out; what is empty is not shown.
struct ReportData {
  std::string title = "run";
  std::string finished = {};  ///< when the run ended
  History history;
  std::vector<std::string> metrics = {};  ///< names of the validation metrics
  std::string monitor =
      {};  ///< the metric that says which epoch is best; "": the validation loss, or the training's
  std::string ending = {};              ///< why the run ended; "": what the history says
  std::vector<std::string> notes = {};  ///< warnings and notes of the run
  Outcome outcome = {};
  std::vector<LayerRow> layers = {};
  DataFacts data = {};
  std::string job = {};    ///< TOML
  std::string steps = {};  ///< the path of the run's steps.npy
};

/// A self-contained page: HTML with its styles, drawings and a little script in it; no other file and no
/// network. Under 200 kB for 10,000 epochs.
std::string report_html(const ReportData& data);

/// Writes report_html() to `path`, whole or not at all. Throws Error when that cannot be.
void write_report(const std::string& path, const ReportData& data);

}  // namespace tightloop::train
