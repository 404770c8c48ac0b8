// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/plan.h>
#include <tightloop/train/toml.h>
#include <tightloop/train/tune/job_measurer.h>
#include <tightloop/train/tune/trial.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

namespace tightloop::train::tune {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEndless = 1'000'000'000;  // epochs of a trial, which ends before
constexpr std::int64_t kProbeRows = 4096;         // whose loss is compared where no rows validate
constexpr std::int64_t kLeastLossSteps = 20;

std::string temporary_folder() {
  std::string name = (fs::temp_directory_path() / "tightloop-tune-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error("tune: no folder can be made in " + fs::temp_directory_path().string());
  return name;
}

/// Without what ends a run early or makes several of it.
Job alone(Job job) {
  std::erase_if(job.train.callbacks, [](const auto& c) {
    return c.first == "early_stopping" || c.first == "stop_at" || c.first == "max_time";
  });
  job.train.repeats = 1;
  job.output.report = false;
  if (job.data.fold.k > 0 && job.data.fold.index < 0) job.data.fold.index = 0;
  return job;
}

Job endless(Job job) {
  job = alone(std::move(job));
  job.train.epochs = kEndless;
  job.train.max_steps = 0;
  return job;
}

/// What reading the data depends on.
std::string data_of(const Job& job) {
  Job same = job;
  same.data.batch = 1;
  same.data.workers = -1, same.data.prefetch = 2;
  same.data.drop_last = false;
  std::string out = std::to_string(job.seed);
  for (const Key& key : job_keys())
    if (key.path.starts_with("data.")) out += write_toml_value(key.write(same)) + "\n";
  return out;
}

void set_loader(DataPart& part, const Job& job) {
  part.loader.workers = static_cast<int>(job.data.workers);
  part.loader.prefetch = static_cast<int>(job.data.prefetch);
}

struct EpochSize {
  std::int64_t steps = 0;
  double rows = 0;
};

EpochSize epoch_of(const PreparedJob& p) {
  const SessionOptions o = p.options.session();
  const std::int64_t steps = run_length(p.data.data.train, o).epoch;
  const std::int64_t rows = p.data.data.train.count();
  const bool whole = !o.drop_last && o.limit_batches.all();
  return {steps, static_cast<double>(whole ? rows : std::min(rows, steps * o.batch))};
}

/// Ends the reading of data when the user wants to stop.
struct Reading : Observer {
  explicit Reading(const std::function<bool()>& asked) : interrupted(asked) {}
  bool stop() override { return interrupted(); }
  void progress(const Progress&) override {
    if (interrupted()) throw Interrupted{};
  }
  const std::function<bool()>& interrupted;
};

}  // namespace

Job GivenJob::with(const Settings& settings) const {
  Settings all = given;
  all.insert(all.end(), settings.begin(), settings.end());
  Job job = parse_job(text, source, all);
  job.folder = folder;
  return job;
}

JobMeasurer::JobMeasurer(GivenJob job, double loss_seconds, std::function<bool()> interrupted)
    : job_(std::move(job)),
      loss_seconds_(loss_seconds),
      interrupted_(std::move(interrupted)),
      folder_(temporary_folder()) {}

JobMeasurer::~JobMeasurer() {
  std::error_code ec;
  fs::remove_all(folder_, ec);
}

double JobMeasurer::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PreparedJob JobMeasurer::prepared(Job job) {
  const std::string key = data_of(job);
  const auto known = std::find_if(data_.begin(), data_.end(), [&](const auto& d) { return d.first == key; });
  std::optional<LoadedData> data;
  if (known != data_.end()) {
    data = known->second;
    set_loader(data->data.train, job);
    if (data->data.validation) set_loader(*data->data.validation, job);
  }
  Reading reading(interrupted_);
  try {
    PreparedJob out = prepare(job, &reading, std::move(data));
    if (known == data_.end()) {
      if (data_.size() > 1) data_.pop_back();
      data_.emplace_back(key, out.data);
    }
    return out;
  } catch (const Error&) {
    if (interrupted_()) throw Interrupted{};
    throw;
  }
}

double JobMeasurer::seconds_per_sample(const Settings& settings, double seconds) {
  PreparedJob p = prepared(endless(job_.with(settings)));
  const bool validates = p.data.data.validation.has_value();
  const auto known = validation_s_.find(settings);
  Trial trial(seconds, validates && known == validation_s_.end(), interrupted_);
  try {
    run_job(p, folder_ + "/run", &trial);
  } catch (const Trial::Done&) {  // as wanted
  } catch (const NonFinite& e) {
    if (!trial.has_steps()) throw Error(e.what());
  }
  std::error_code ec;
  fs::remove_all(folder_ + "/run", ec);
  if (!trial.has_steps()) throw Error("the run ended before it could be timed");
  if (const auto s = trial.validation_s()) validation_s_[settings] = *s;
  const EpochSize epoch = epoch_of(p);
  const double every = static_cast<double>(p.options.evaluate_every);
  double end = trial.epoch_s().value_or(0) * (validates ? 1 - 1 / every : 1);
  if (validates && validation_s_.contains(settings)) end += validation_s_[settings] / every;
  const double out = (trial.seconds_per_step() * static_cast<double>(epoch.steps) + end) / epoch.rows;
  if (settings.empty()) own_rate_ = out;
  return out;
}

void JobMeasurer::choose_loss_samples() {
  const PreparedJob p = prepared(alone(job_.with({})));
  const EpochSize epoch = epoch_of(p);
  double all = static_cast<double>(p.options.epochs) * epoch.rows;
  if (p.options.max_steps > 0)
    all = std::min(all, static_cast<double>(p.options.max_steps * p.options.batch));
  const double least = static_cast<double>(kLeastLossSteps * p.options.batch);
  const double wanted = std::max(least, own_rate_ > 0 ? loss_seconds_ / own_rate_ : least);
  loss_samples_ = static_cast<std::int64_t>(std::max(1.0, std::min(all, wanted)));
}

double JobMeasurer::loss(const Settings& settings, bool other_seed) {
  if (loss_samples_ == 0) choose_loss_samples();
  Job job = alone(job_.with(settings));
  job.train.evaluate_every = kEndless;
  PreparedJob p = prepared(job);
  if (other_seed) {
    ++p.options.seed;
    if (job.model.weights.empty()) p.model->initialize(p.options.seed);
  }
  const EpochSize epoch = epoch_of(p);
  const double per_step = epoch.rows / static_cast<double>(epoch.steps);
  p.options.max_steps =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(loss_samples_) / per_step));
  Reading watch(interrupted_);
  p.options.observer = &watch;
  Trainer trainer(p.options, p.metrics);
  const TrainingData& data = p.data.data;
  const History history = trainer.fit(p.model->model(), p.loss, *p.optimizer, data);
  if (interrupted_()) throw Interrupted{};
  if (!history.epochs.empty() && history.epochs.back().validation)
    return history.epochs.back().validation->loss;
  return trainer
      .evaluate(p.model->model(), p.loss, first_rows(data.train, std::min(kProbeRows, data.train.count())),
                data.scales, data.target)
      .loss;
}

std::size_t JobMeasurer::memory(const Settings& settings) {
  if (const auto known = memory_.find(settings); known != memory_.end()) return known->second;
  PreparedJob p = prepared(alone(job_.with(settings)));
  return memory_[settings] = plan_memory(p).total();
}

}  // namespace tightloop::train::tune
