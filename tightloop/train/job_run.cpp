// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/job_run.h>
#include <tightloop/train/sources.h>
#include <tightloop/train/weights.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

OptionValue to_option(const Value& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  if (const auto* d = v.as<double>()) return *d;
  if (const auto* s = v.as<std::string>()) return *s;
  const auto* list = v.as<Value::List>();
  if (list == nullptr) wrong(v, "a number, a string, true, false or a list of numbers");
  Numbers numbers;
  for (const Value& e : *list) {
    const auto* i = e.as<std::int64_t>();
    const auto* d = e.as<double>();
    if (i == nullptr && d == nullptr) wrong(e, "a number");
    numbers.push_back(i != nullptr ? static_cast<double>(*i) : *d);
  }
  return numbers;
}

Options to_options(const Choice& choice) {
  Options out;
  for (const auto& [name, value] : *choice.options.as<Value::Table>()) out.set(name, to_option(value));
  return out;
}

/// Runs `make(name, options)`; its errors get the choice's place in the job file.
template <class Make>
auto chosen(const Choice& choice, Make make) {
  const Options options = to_options(choice);
  try {
    return make(choice.name, options);
  } catch (const Error& e) {
    throw Error(choice.where.empty() ? e.what() : choice.where + ": " + e.what());
  }
}

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

void add_metrics(const Job& job, Metrics& metrics, std::vector<std::string>& names) {
  for (const Choice& c : job.train.metrics) {
    metrics.push_back(
        chosen(c, [](const auto& name, const auto& options) { return nn::make_metric(name, options); }));
    names.push_back(column_name(c.name, names));
  }
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
  o.compile.threads = static_cast<int>(job.train.threads);
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

/// Bytes that the small files of a run may take.
constexpr std::uintmax_t kRoomForTheRest = 64 * 1024;

/// Writes metrics.csv at most once a second, and hands everything on.
class Recorder : public Observer {
 public:
  Recorder(RunDirectory& run, const std::vector<std::string>& names, Observer* next)
      : run_(run), names_(names), next_(next) {}
  void progress(const Progress& p) override {
    if (next_ != nullptr) next_->progress(p);
  }
  bool stop() override { return next_ != nullptr && next_->stop(); }
  void epoch(const EpochRecord& e) override {
    epochs_.push_back(e);
    if (e.seconds - written_ >= 1) write(), written_ = e.seconds;
    if (next_ != nullptr) next_->epoch(e);
  }
  void write() { run_.write_metrics(epochs_, names_); }

 private:
  RunDirectory& run_;
  const std::vector<std::string>& names_;
  Observer* next_;
  std::vector<EpochRecord> epochs_;
  double written_ = 0;
};

}  // namespace

PreparedJob prepare(const Job& given) {
  Job job = with_columns(given);
  nn::LossFn loss = loss_of(job);
  auto optimizer = chosen(job.train.optimizer, [](const auto& name, const auto& options) {
    return optim::make_optimizer(name, options);
  });
  Metrics metrics;
  std::vector<std::string> names;
  add_metrics(job, metrics, names);
  LoadedData data = load_data(job, target_kind(job));
  job.data.columns = data.columns;
  auto model = std::make_unique<ForwardModel>(job.model, data.model_inputs());
  check_classes(job, data.classes, model->output());
  model->initialize(static_cast<std::uint64_t>(job.seed));
  add_groups(job, *model, *optimizer);
  if (!job.model.weights.empty()) load_weights(*model, resolve(job, job.model.weights));
  return {job,
          std::move(data),
          std::move(model),
          std::move(loss),
          std::move(optimizer),
          std::move(metrics),
          std::move(names),
          options_of(job)};
}

History run_job(PreparedJob& prepared, const std::string& directory, Observer* observer) {
  std::uintmax_t weights = 0;
  for (const auto& s : prepared.model->state_dict()) weights += s.bytes();
  RunDirectory run(directory, weights + kRoomForTheRest);
  Recorder recorder(run, prepared.metric_names, observer);
  TrainerOptions options = prepared.options;
  options.observer = &recorder;
  options.started = [&] { run.write_start(prepared.job, prepared.data); };
  const auto finish = [&] {
    if (!run.started()) options.started();
    recorder.write();
    run.write_model(*prepared.model, prepared.data.classes);
    run.finish();
  };
  try {
    Trainer trainer(options, prepared.metrics);
    History history =
        trainer.fit(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.data.data);
    finish();
    return history;
  } catch (const NonFinite& e) {
    if (!run.started()) throw;
    finish();
    throw Error(fmt::format("{}; the last good weights are in {}", e.what(), run.path()));
  }
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

void make_model(TrainedModel& trained, const data::Dataset& data) {
  LoadedData like{
      .data = {.train = {data}, .target = trained.run.job.data.target[0].name}, .split = {}, .classes = {}};
  trained.model = std::make_unique<ForwardModel>(trained.run.job.model, like.model_inputs());
  load_weights(*trained.model, trained.run.model_path);
}

}  // namespace tightloop::train
