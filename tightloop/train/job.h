// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/column_rule.h>
#include <tightloop/data/window.h>
#include <tightloop/optim/gradient_rules.h>
#include <tightloop/optim/loss_scale.h>
#include <tightloop/train/batch_limit.h>
#include <tightloop/train/precision.h>
#include <tightloop/train/stages.h>
#include <tightloop/train/value.h>
#include <tightloop/train/weights.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::train {

/// A named part of the data: the CSV columns (or patterns like "x*") or the one file it is read from.
struct Field {
  std::string name;
  std::vector<std::string> from;
};

/// A parameter that the forward text uses by name, outside any layer.
struct FreeParameter {
  std::string name;
  std::vector<std::int64_t> shape;
  Value init = 0.0;  ///< a number, or the name of an initialiser
};

/// Something chosen by name with options: `"mse"` or `{ name = "adam", lr = 5e-4 }`.
struct Choice {
  std::string name;
  Value options = Value::Table{};  ///< the other entries
  std::string where = {};          ///< "job.toml:5:9: train.loss", for messages
};

/// Parameters chosen by name that learn otherwise: an entry of train.group.
struct ParameterGroup {
  std::vector<std::string> match;  ///< patterns
  std::optional<double> lr, weight_decay;
  std::string where;
};

/// How an input is normalised.
struct Normalize {
  std::string input;  ///< "": every input
  std::string method;
  std::string where = {};
};

/// The part of the rows that validates: one of these, or nothing.
struct Validation {
  double fraction = 0;
  std::string file;          ///< like data.train
  std::vector<Field> files;  ///< name = file
  bool none() const { return fraction == 0 && file.empty() && files.empty(); }
};

/// How the validation rows are chosen: data.split and data.fold.
struct SplitChoice {
  std::string method;  ///< "": random; time where there is a window
  std::string
      column;  ///< classes, groups or times; "": the target (stratified), the order of the rows (time)
  std::int64_t seed = 0;
  std::string where = {};
};
struct FoldChoice {
  std::int64_t k = 0;       ///< 0: no folds
  std::int64_t index = -1;  ///< -1: each in turn, in runs of their own
};

/// data.window: rows of a time series as samples.
struct WindowChoice {
  data::Window window;
  std::string group;  ///< a column whose value no window crosses; "": none
};

/// What images become when they are decoded.
struct Images {
  bool given = false;
  std::int64_t channels = 3;
  std::vector<std::int64_t> size;  ///< height and width, or none: by the transforms, or as the first image
  std::string type = "u8";
};

/// A text inside the job with its place in the file, for messages.
struct Text {
  std::string text;
  std::string source;
  int line = 0;  ///< 0: unknown
  int column = 1;
};

/// A training job, as docs/job.md describes it key by key.
struct Job {
  std::int64_t seed = 0;

  struct Data {
    std::string train;
    std::vector<std::string> train_more;  ///< files or folders whose rows follow those of `train`
    std::string format;                   ///< of all files of the data; "": what their content shows
    std::string separator;                ///< of tables; "": a tab for .tsv, else a comma
    std::optional<bool> header;  ///< of tables; unset: there is one unless the first line is all numbers
    std::vector<data::ColumnRule> columns;
    std::string vocabulary;  ///< file of the tokens of texts; "": bytes
    std::vector<Field> inputs;
    std::vector<Field> target;
    Validation validation;
    std::vector<Normalize> normalize;
    std::int64_t batch = 32;
    bool shuffle = true;
    bool drop_last = false;
    Choice sampler{"shuffled"};
    std::optional<SplitChoice> split;
    FoldChoice fold;
    std::optional<WindowChoice> window;
    std::vector<Choice> transforms;
    std::optional<std::vector<Choice>> eval_transforms;  ///< nothing: follows from transforms
    Images images;
    std::string memory = "auto";    ///< auto, resident or stream
    std::int64_t workers = -1;      ///< -1: as many as pay
    std::int64_t prefetch = 2;      ///< batches for each worker
    std::string on_error = "stop";  ///< stop or skip
  } data;

  struct Model {
    std::vector<FreeParameter> parameters;
    std::string weights;  ///< a file to start from; "": none
    WeightMap weight_map;
    Text forward;
  } model;

  struct Train {
    std::int64_t epochs = 10;
    std::int64_t max_steps = 0;  ///< 0: no limit
    Choice loss;
    Choice optimizer{"adam"};
    std::vector<ParameterGroup> groups;
    Value schedule;  ///< as job_schedule() reads it; monostate: none
    optim::GradientRules gradients;
    std::int64_t accumulate = 1;  ///< batches of an update
    std::string memory;           ///< what a training may take: "2GB", "50%"; "": no limit
    /// none, auto, cheap, blocks, or layers: those of recompute_layers; "": what `memory` needs.
    std::string recompute;
    std::vector<std::string> recompute_layers;  ///< patterns
    optim::LossScale loss_scale;
    std::string denormals = "flush";  ///< or keep
    bool deterministic = true;
    std::vector<std::string> freeze;  ///< patterns
    std::string freeze_where;
    std::vector<Thaw> unfreeze;
    std::string frozen_norm = "train";  ///< train, or evaluate: what a frozen batch_norm does in training
    /// Callbacks by the names of callbacks/index.def, as job_callback() reads them.
    std::vector<std::pair<std::string, Value>> callbacks;
    std::vector<Choice> metrics;
    std::int64_t evaluate_every = 1;  ///< epochs
    std::vector<Choice> loggers{{"jsonl"}};
    std::int64_t log_every = -1;  ///< steps; -1: as seldom as keeps logs small
    std::int64_t threads = 0;     ///< 0: chosen by the machine
    std::string backend = "compiled";
    Precision precision;
    BatchLimit limit_batches, limit_validation_batches;
    std::int64_t overfit_batches = 0;  ///< 0: no
    std::optional<std::int64_t> sanity_check;
    std::int64_t repeats = 1;  ///< runs, each from another seed
  } train;

  struct Output {
    std::string directory = "run";
    bool report = true;  ///< write report.html
  } output;

  std::string source;  ///< the job file's name as messages show it
  std::string folder;  ///< relative paths of the job start here; "" is the current directory
};

/// One key of the job file. The list is the schema: reading, writing, suggestions and the test of
/// docs/job.md follow from it.
struct Key {
  std::string_view path;     ///< "data.batch"
  std::string_view meaning;  ///< one phrase
  bool required;
  void (*read)(const Value&, Job&);  ///< throws Error by wrong() or fail()
  Value (*write)(const Job&);        ///< monostate: left out of the file
};
std::span<const Key> job_keys();

/// Throws Error with file, line and column for anything that docs/job.md does not allow.
/// `overrides` are texts "a.b=value" that replace keys before they are checked.
Job parse_job(std::string_view text, const std::string& source,
              const std::vector<std::string>& overrides = {});
Job load_job(const std::string& path, const std::vector<std::string>& overrides = {});

/// The resolved job: every key with its value, paths absolute.
std::string to_toml(const Job& job);

/// `path` as the job means it: relative ones start at the job file's folder.
std::string resolve(const Job& job, const std::string& path);

}  // namespace tightloop::train
