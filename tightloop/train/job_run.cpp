// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/check_run.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/job_callbacks.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/job_schedule.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/job_loggers.h>
#include <tightloop/train/memory_budget.h>
#include <tightloop/train/profile/profiler.h>
#include <tightloop/train/report/job_report.h>
#include <tightloop/train/resume.h>
#include <tightloop/train/sources.h>
#include <tightloop/train/weights.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace tightloop::train {
namespace {

nn::LossFn loss_of(const Job& job) {
  return chosen(job.train.loss,
                [](const auto& name, const auto& options) { return nn::make_loss(name, options); });
}

nn::TargetKind target_kind(const Job& job) {
  const nn::LossDef* def = nn::find_loss(job.train.loss.name);
  require(def != nullptr, "target_kind: unknown loss");
  return def->target;
}

/// A metric that comes more than once is told apart by a number: top_k, top_k_2.
std::string column_name(const std::string& metric, const std::vector<std::string>& taken) {
  std::string name = metric;
  for (int i = 2; std::find(taken.begin(), taken.end(), name) != taken.end(); ++i)
    name = fmt::format("{}_{}", metric, i);
  return name;
}

/// Gives the optimizer the job's groups; every pattern must match a parameter.
void add_groups(const Job& job, nn::Module& model, optim::Optimizer& optimizer) {
  std::vector<std::string> paths;
  for (const auto& p : model.parameters()) paths.push_back(p.path);
  std::vector<optim::Group> groups;
  for (const ParameterGroup& g : job.train.groups) {
    std::vector<optim::Group> own;
    for (const auto& pattern : g.match) own.push_back({pattern, 1, g.weight_decay, g.lr});
    try {
      optim::check_patterns(own, paths);
    } catch (const Error& e) {
      throw Error(fmt::format("{}: {}", g.where, e.what()));
    }
    groups.insert(groups.end(), own.begin(), own.end());
  }
  optimizer.set_groups(std::move(groups));
}

/// Freezes what the job's patterns match; each must match a parameter.
void freeze(const Job& job, nn::Module& model) {
  std::vector<optim::Group> patterns;
  std::vector<std::string> paths;
  for (const auto& pattern : job.train.freeze) patterns.push_back({pattern});
  for (const auto& p : model.parameters()) {
    paths.push_back(p.path);
    const bool frozen = std::any_of(job.train.freeze.begin(), job.train.freeze.end(),
                                    [&](const auto& pattern) { return optim::matches(pattern, p.path); });
    if (frozen) p.parameter->freeze();
  }
  placed(job.train.freeze_where, [&] { optim::check_patterns(patterns, paths); });
}

void add_metrics(const Job& job, Metrics& metrics, std::vector<std::string>& names) {
  for (const Choice& c : job.train.metrics) {
    metrics.push_back(
        chosen(c, [](const auto& name, const auto& options) { return nn::make_metric(name, options); }));
    names.push_back(column_name(c.name, names));
  }
}

Recompute recompute_of(const Job::Train& train) {
  using What = Recompute::What;
  if (train.recompute == "layers") return {What::layers, train.recompute_layers};
  if (train.recompute == "cheap") return {What::cheap};
  const bool chosen = train.recompute == "auto" && train.memory.empty();
  return {chosen || train.recompute == "blocks" ? What::blocks : What::nothing};
}

/// Chooses how to keep within train.memory, and writes that into the job: what is written beside a run says
/// how it was trained.
void keep_within_memory(PreparedJob& prepared) {
  TrainerOptions& options = prepared.options;
  if (options.memory == 0) return;
  const MemoryChoice choice = placed(prepared.job.source, [&] { return fit_memory(prepared); });
  apply(choice, options);
  prepared.memory = choice.text();
  Job& job = prepared.job;
  job.data.batch = options.batch;
  job.train.accumulate = options.update.accumulate;
  job.train.max_steps = options.max_steps;
  job.train.overfit_batches = options.overfit_batches;
  job.train.log_every = options.log_every;
  job.train.limit_batches = options.limit_batches;
  job.train.limit_validation_batches = options.limit_validation_batches;
  if (job.train.recompute_layers.empty())
    job.train.recompute = choice.recompute.what == Recompute::What::nothing ? "none"
                          : choice.recompute.what == Recompute::What::cheap ? "cheap"
                                                                            : "blocks";
}

TrainerOptions options_of(const Job& job) {
  TrainerOptions o;
  o.epochs = job.train.epochs;
  o.max_steps = job.train.max_steps;
  o.batch = job.data.batch;
  o.shuffle = job.data.shuffle;
  o.drop_last = job.data.drop_last;
  o.seed = static_cast<std::uint64_t>(job.seed);
  o.evaluate_every = job.train.evaluate_every;
  o.log_every = job.train.log_every;
  o.limit_batches = job.train.limit_batches;
  o.limit_validation_batches = job.train.limit_validation_batches;
  o.overfit_batches = job.train.overfit_batches;
  o.sanity_check = job.train.sanity_check;
  const JobSchedule schedule = job_schedule(job.train.schedule);
  o.update.schedule = schedule.schedule;
  o.update.per_step = schedule.per_step;
  o.update.gradients = job.train.gradients;
  o.update.accumulate = job.train.accumulate;
  o.update.loss_scale = job.train.loss_scale;
  if (!job.train.memory.empty()) o.memory = memory_bytes(job.train.memory, job.source + ": train.memory");
  o.recompute_to_fit = job.train.recompute.empty() || job.train.recompute == "auto";
  o.compile.recompute = recompute_of(job.train);
  o.plateau_metric = schedule.monitor;
  if (o.update.schedule != nullptr)
    o.schedule_where = job.train.schedule.where + ": " + job.train.schedule.path;
  o.callbacks = job_callbacks(job);
  o.unfreeze = job.train.unfreeze;
  o.frozen_norm_evaluates = job.train.frozen_norm == "evaluate";
  o.precision = job.train.precision;
  o.compile.threads = static_cast<int>(job.train.threads);
  o.compile.flush_denormals = job.train.denormals == "flush";
  o.compile.backend = job.train.backend == "reference" ? Backend::reference : Backend::cpu;
  return o;
}

void check_classes(const Job& job, const std::vector<std::string>& classes, const TensorType& output) {
  const auto count = static_cast<std::int64_t>(classes.size());
  if (classes.empty() || output.shape.rank() < 2) return;
  const Dim& scores = output.shape[1];
  if (!scores.is_static() || scores.factor >= count) return;
  const std::span<const std::string> shown(classes.data(), std::min<std::size_t>(classes.size(), 10));
  throw Error(fmt::format("{}: column '{}' has {} classes ({}{}), the model gives {} score{}", job.source,
                          job.data.target[0].from[0], count, fmt::join(shown, ", "),
                          classes.size() > shown.size() ? ", ..." : "", scores.factor,
                          scores.factor == 1 ? "" : "s"));
}

/// Mixed samples have several classes each, which only some losses take.
void check_mixing(const Job& job, const DataPart& part) {
  if (target_kind(job) != nn::TargetKind::classes || !part.transforms || !part.transforms->mixes()) return;
  throw Error(
      fmt::format("{}: {} takes one class a row, but mixup and cutmix make targets probabilities; take "
                  "cross_entropy",
                  job.train.loss.where, job.train.loss.name));
}

/// Bytes that the small files of a run may take.
constexpr std::uintmax_t kRoomForTheRest = 64 * 1024;

/// metrics.csv, what the job asks for, and where it names the steps to be logged, the table that holds them
/// all.
void add_loggers(TrainerOptions& options, const PreparedJob& prepared, const RunDirectory& run) {
  options.loggers.push_back(make_logger("csv", {}, run.unfinished_folder()));
  std::vector<Choice> others = prepared.job.train.loggers;
  std::erase_if(others, [](const Choice& c) { return c.name == "csv"; });
  const bool table = std::any_of(others.begin(), others.end(), [](auto& c) { return c.name == "steps"; });
  if (prepared.job.train.log_every > 0 && !others.empty() && !table) others.push_back({"steps"});
  for (auto& logger : job_loggers(others, run.path())) options.loggers.push_back(std::move(logger));
  options.description = describe_job(prepared.job);
}

/// Remembers what the report tells, and hands everything on.
class Witness : public Observer {
 public:
  explicit Witness(Observer* next) : next_(next) {}
  void progress(const Progress& p) override {
    if (next_ != nullptr) next_->progress(p);
  }
  bool stop() override { return next_ != nullptr && next_->stop(); }
  void note(const std::string& text) override {
    notes_.push_back(text);
    if (next_ != nullptr) next_->note(text);
  }
  void resumed(const History& before, std::int64_t step) override {
    epochs_ = before.epochs;
    if (next_ != nullptr) next_->resumed(before, step);
  }
  void epoch(const EpochRecord& e) override {
    epochs_.push_back(e);
    if (next_ != nullptr) next_->epoch(e);
  }
  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Observer* next_;
  std::vector<EpochRecord> epochs_;
  std::vector<std::string> notes_;
};

/// The checkpoint to go on from, checked against the job.
std::string found_checkpoint(const PreparedJob& prepared, const RunDirectory& run, const std::string& which,
                             Observer* observer) {
  const auto note = [&](const std::string& text) {
    if (observer != nullptr) observer->note(text);
  };
  const FoundCheckpoint found = find_checkpoint(run.checkpoints(), which);
  for (const std::string& damaged : found.damaged) note(damaged + "; taking the one before");
  const auto job = found.checkpoint.metadata.find("job");
  if (job == found.checkpoint.metadata.end()) throw Error(found.path + ": was not written by a job's run");
  for (const auto& change : changes_on_resume(parse_job(job->second, found.path), prepared.job, found.path))
    note("changed since the checkpoint: " + change);
  return found.path;
}

/// The run's callback for checkpoints; one that writes only when the run is interrupted where the job asks
/// for none.
CheckpointOptions& checkpoint_options(TrainerOptions& options) {
  for (const auto& callback : options.callbacks)
    if (auto* files = dynamic_cast<CheckpointFiles*>(callback.get())) return files->options();
  auto files = std::make_shared<CheckpointFiles>(CheckpointOptions{.at_end = false});
  options.callbacks.push_back(files);
  return files->options();
}

void add_checkpoints(TrainerOptions& options, const PreparedJob& prepared, RunDirectory& run) {
  CheckpointOptions& c = checkpoint_options(options);
  c.directory = run.checkpoints();
  c.metadata["job"] = to_toml(prepared.job);
  if (!prepared.data.classes.empty()) c.metadata["classes"] = nlohmann::json(prepared.data.classes).dump();
  c.first = [&run] { run.begin_checkpoints(); };
}

/// The page comes last: the run is whole without it.
void add_report(PreparedJob& prepared, const RunDirectory& run, Witness& witness, const History& history,
                const std::string& ending = "") {
  if (!prepared.job.output.report) return;
  try {
    ReportData data = report_of(prepared, history, witness.notes());
    data.title = run.path();
    data.ending = ending;
    data.steps = (std::filesystem::path(run.path()) / kStepTable).string();
    write_report(run.report(), data);
  } catch (const std::exception& e) {
    witness.note(fmt::format("{} was not written: {}", run.report(), e.what()));
  }
}

/// What the job's profiler found, beside the report.
void add_profile(const PreparedJob& prepared, const RunDirectory& run, Witness& witness) {
  const auto& wanted = prepared.job.train.callbacks;
  if (std::none_of(wanted.begin(), wanted.end(), [](const auto& c) { return c.first == "profile"; })) return;
  const Profiler* profiler = find_profiler(prepared.options.callbacks);
  if (profiler == nullptr) return;
  try {
    if (profiler->profile().empty())
      return witness.note("no step was profiled: the run ended before train.profile begins to count");
    profiler->write(run.path(), run.path());
  } catch (const std::exception& e) {
    witness.note(fmt::format("the profile was not written: {}", e.what()));
  }
}

std::uintmax_t weight_bytes(PreparedJob& prepared) {
  std::uintmax_t bytes = 0;
  for (const auto& s : prepared.model->state_dict()) bytes += s.bytes();
  return bytes;
}

}  // namespace

PreparedJob prepare(const Job& given, Observer* observer, std::optional<LoadedData> read) {
  Job job = with_columns(given);
  if (job.data.fold.k > 0 && job.data.fold.index < 0) job.data.fold.index = 0;
  nn::LossFn loss = loss_of(job);
  auto optimizer = chosen(job.train.optimizer, [](const auto& name, const auto& options) {
    return optim::make_optimizer(name, options);
  });
  Metrics metrics;
  std::vector<std::string> names, notes;
  add_metrics(job, metrics, names);
  const std::size_t resident = resident_memory();
  const auto reading = std::chrono::steady_clock::now();
  LoadedData data = read ? std::move(*read) : load_data(job, target_kind(job), observer);
  const std::chrono::duration<double> reading_s = std::chrono::steady_clock::now() - reading;
  job.data.columns = data.columns;
  if (job.train.overfit_batches > 0) data.data.train.transforms = data.evaluation;
  check_mixing(job, data.data.train);
  auto model = std::make_unique<ForwardModel>(job.model, data.model_inputs());
  check_classes(job, data.classes, model->output());
  model->initialize(static_cast<std::uint64_t>(job.seed));
  const ChosenPrecision precision = on_this_machine(job.train.precision);
  if (!precision.note.empty()) notes.push_back(precision.note);
  model->set_precision(precision.precision);
  add_groups(job, *model, *optimizer);
  freeze(job, *model);
  if (!job.model.weights.empty()) {
    const std::string path = resolve(job, job.model.weights);
    const std::string left = load_weights(*model, path, job.model.weight_map);
    if (!left.empty()) notes.push_back(path + ":\n" + left);
  }
  if (!job.train.deterministic)
    notes.emplace_back(
        "train.deterministic = false changes nothing: every step repeats bit for bit, at no cost");
  TrainerOptions options = options_of(job);
  options.metrics = names;
  options.precision = precision.precision;
  placed(job.source, [&] { check(options); });
  PreparedJob out{job,
                  std::move(data),
                  std::move(model),
                  std::move(loss),
                  std::move(optimizer),
                  std::move(metrics),
                  std::move(names),
                  std::move(options),
                  std::move(notes),
                  "",
                  reading_s.count(),
                  resident};
  keep_within_memory(out);
  return out;
}

bool can_resume(const Job& job) {
  const auto* def = optim::find_optimizer(job.train.optimizer.name);
  return def == nullptr || !def->whole_data;
}

History run_job(PreparedJob& prepared, const std::string& directory, Observer* observer,
                const std::string& resume) {
  if (!resume.empty() && !can_resume(prepared.job))
    throw Error("optimizer " + prepared.job.train.optimizer.name + ": has no checkpoints to go on from");
  check_run(prepared);
  RunDirectory run(directory, weight_bytes(prepared) + kRoomForTheRest,
                   resume.empty() ? RunDirectory::Begin::anew : RunDirectory::Begin::resume);
  TrainerOptions options = prepared.options;
  Witness witness(observer);
  options.observer = &witness;
  options.started = [&] {
    run.write_start(prepared.job, prepared.data);
    run.begin_logs();
  };
  add_loggers(options, prepared, run);
  if (can_resume(prepared.job)) add_checkpoints(options, prepared, run);
  if (!resume.empty()) options.resume = found_checkpoint(prepared, run, resume, &witness);
  const auto finish = [&](bool ended) {
    if (!run.started()) options.started();
    run.write_model(*prepared.model, prepared.data.classes);
    run.finish(ended);
  };
  try {
    Trainer trainer(options, prepared.metrics);
    History history =
        trainer.fit(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.data.data);
    finish(!history.stopped);
    add_profile(prepared, run, witness);
    add_report(prepared, run, witness, history);
    return history;
  } catch (const NonFinite& e) {
    if (!run.started()) throw;
    finish(true);
    History history{.epochs = witness.epochs()};
    if (!history.epochs.empty()) history.steps = history.epochs.back().step;
    add_report(prepared, run, witness, history, e.what());
    throw NonFinite(fmt::format("{}; the last good weights are in {}", e.what(), run.path()));
  }
}

History try_job(PreparedJob& prepared, Observer* observer) {
  TrainerOptions options = prepared.options;
  options.epochs = options.max_steps = 1;
  options.callbacks.clear();
  options.observer = observer;
  Stages stages(options.unfreeze, prepared.model.get());  // as the first epoch has them
  if (!options.unfreeze.empty()) stages.set(1);
  options.unfreeze.clear();
  TrainingData data = seen_by(options, prepared.data.data);
  if (data.validation) data.validation = first_rows(std::move(*data.validation), options.evaluation_batch());
  return Trainer(options, prepared.metrics)
      .fit(prepared.model->model(), prepared.loss, *prepared.optimizer, data);
}

TrainedModel read_trained(const std::string& path) {
  SavedRun run = read_run(path);
  TrainedModel out{std::move(run), nullptr, nullptr, nn::TargetKind::values, {}, {}, {}};
  out.loss = loss_of(out.run.job);
  out.target = target_kind(out.run.job);
  add_metrics(out.run.job, out.metrics, out.metric_names);
  out.options = options_of(out.run.job);
  return out;
}

void make_model(TrainedModel& trained, const DataPart& part) {
  DataPart seen = part;
  seen.transforms = part.transforms ? part.transforms : evaluation_transforms(trained.run.job);
  LoadedData like{.data = {.train = std::move(seen),
                           .scales = trained.run.scales,
                           .target = trained.run.job.data.target[0].name},
                  .split = {},
                  .classes = {}};
  trained.model = std::make_unique<ForwardModel>(trained.run.job.model, like.model_inputs());
  trained.model->set_precision(on_this_machine(trained.run.job.train.precision).precision);
  load_weights(*trained.model, trained.run.model_path);
}

}  // namespace tightloop::train
