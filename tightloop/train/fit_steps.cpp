// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/reduce_on_plateau.h>
#include <tightloop/train/fit_steps.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>

namespace tightloop::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Steps for about a twentieth of a second, by the time that the chunks before took.
class ChunkSize {
 public:
  std::int64_t steps() const { return steps_; }
  void took(std::int64_t steps, double seconds) {
    const double wanted = 0.05 * static_cast<double>(steps) / std::max(seconds, 1e-9);
    steps_ = static_cast<std::int64_t>(std::clamp(wanted, 1.0, 8.0 * static_cast<double>(steps_)));
  }

 private:
  std::int64_t steps_ = 1;
};

/// The options with the callback that the schedule needs.
TrainerOptions completed(TrainerOptions options) {
  const auto* plateau = options.update.schedule ? options.update.schedule->plateau() : nullptr;
  if (plateau != nullptr)
    options.callbacks.insert(options.callbacks.begin(),
                             std::make_shared<ReduceOnPlateau>(*plateau, options.plateau_metric));
  return options;
}

/// One call of fit().
class Fit {
 public:
  Fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer, const TrainingData& data,
      const TrainerOptions& options, const Metrics& metrics)
      : model_(model),
        loss_(loss),
        data_(data),
        options_(completed(options)),
        metrics_(metrics),
        spec_(DataSpec::of(data.train.data, data.target, data.scales)),
        session_(model, loss, optimizer, spec_, data.train, options_.session()),
        total_(session_.steps()),
        run_(model, options_, session_, optimizer.lr(), data.validation.has_value(), data.train.count()) {}

  History run() {
    start();
    while (more()) run_epoch(static_cast<std::int64_t>(run_.history().epochs.size()) + 1);
    session_.bound().check_files();
    end();
    for (const auto& callback : options_.callbacks) callback->weights(run_);
    run_.history().steps = session_.step();
    add_skipped(session_.bound());
    note_waiting();
    if (evaluator_) add_skipped(evaluator_->bound());
    return std::move(run_.history());
  }

  /// What would be refused before the first step.
  void check() {
    for (const auto& callback : options_.callbacks) callback->start(run_);
  }

 private:
  void note_waiting() const {
    if (!data_.train.is_stream()) return;
    run_.note(fmt::format("{:.1f} % of the time went by waiting for samples",
                          100 * session_.bound().waited_s() / std::max(seconds_since(began_), 1e-9)));
  }

  void add_skipped(const BoundStep& bound) {
    for (const auto& [number, what] : bound.skipped()) run_.history().skipped.push_back(what);
  }

  /// An epoch whose steps are done may still want its record: a checkpoint can lie in between.
  bool more() const {
    const auto recorded = static_cast<std::int64_t>(run_.history().epochs.size());
    const bool waits = session_.step() > recorded * session_.steps_per_epoch();
    return !run_.stopping() && (session_.step() < total_ || waits);
  }

  void start() {
    for (const auto& callback : options_.callbacks) callback->start(run_);
    if (options_.resume.empty()) return;
    first_ = false;
    run_.resume(read_checkpoint(options_.resume), options_.resume);
    if (options_.observer != nullptr) options_.observer->resumed(run_.history(), run_.step());
    if (options_.started) options_.started();
  }

  void run_epoch(std::int64_t epoch) {
    run_.set_epoch(epoch);
    entered_ = session_.step();
    epoch_start_ = Clock::now();
    if (entered_ == (epoch - 1) * session_.steps_per_epoch()) {
      session_.bound().reset();
      for (const auto& callback : options_.callbacks) callback->epoch_start(run_);
    }
    if (!run_steps(std::min(total_, epoch * session_.steps_per_epoch()))) return;
    if (irregular(epoch)) end();
    finish_epoch(epoch);
  }

  /// A record that a longer run would not have: it comes after the last checkpoint.
  bool irregular(std::int64_t epoch) const {
    return run_.stopping() || run_.ended_inside_epoch() ||
           (session_.step() >= total_ && epoch % options_.evaluate_every != 0);
  }

  /// False when the loss was lost and the run put back.
  bool run_steps(std::int64_t end) {
    while (session_.step() < end && !run_.stopping()) {
      try {
        chunk(end);
      } catch (const NonFinite& e) {
        if (!recover(e)) throw;
        return false;
      }
      for (const auto& callback : options_.callbacks) callback->step(run_);
      observe();
    }
    return true;
  }

  bool recover(const NonFinite& e) {
    return std::any_of(options_.callbacks.begin(), options_.callbacks.end(),
                       [&](const auto& callback) { return callback->recover(run_, e); });
  }

  void observe() {
    if (options_.observer == nullptr) return;
    options_.observer->progress({run_.epoch(), options_.epochs, session_.step(), total_,
                                 session_.bound().mean_loss(), samples_per_s()});
    if (!options_.observer->stop()) return;
    run_.history().stopped = true;
    run_.stop("");
  }

  void chunk(std::int64_t end) {
    run_chunk(end);
    if (first_ && options_.started) options_.started();
    first_ = false;
  }

  void run_chunk(std::int64_t end) {
    const auto start = Clock::now();
    if (verified_ < options_.verify_steps) return ++verified_, session_.run_verified();
    for (const auto& callback : options_.callbacks)
      end = std::min(end, callback->pause_after(session_.step()));
    const std::int64_t steps = std::min(chunk_.steps(), end - session_.step());
    session_.run(steps);
    chunk_.took(steps, seconds_since(start));
  }

  double samples_per_s() const {
    const double rows =
        static_cast<double>((session_.step() - entered_) * std::min(options_.batch, data_.train.count()));
    return rows / std::max(seconds_since(epoch_start_), 1e-9);
  }

  void finish_epoch(std::int64_t epoch) {
    EpochRecord record{epoch, session_.step(), session_.bound().mean_loss(), {}, samples_per_s(), 0, 0};
    const bool last = session_.step() >= total_ || run_.stopping();
    if (data_.validation && (last || epoch % options_.evaluate_every == 0))
      record.validation = evaluator().run();
    record.seconds = run_.seconds();
    record.lr = run_.lr();
    run_.history().epochs.push_back(record);
    for (const auto& callback : options_.callbacks) callback->epoch(run_, record);
    if (options_.observer != nullptr) options_.observer->epoch(record);
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    for (const auto& callback : options_.callbacks) callback->end(run_);
  }

  Evaluator& evaluator() {
    if (!evaluator_)
      evaluator_.emplace(
          model_, loss_, metrics_, spec_, *data_.validation, options_.evaluation_batch(),
          [this](const std::string& path) { return run_.evaluated(path); }, options_.compile);
    return *evaluator_;
  }

  const Model& model_;
  const nn::LossFn& loss_;
  const TrainingData& data_;
  TrainerOptions options_;
  const Metrics& metrics_;
  DataSpec spec_;
  Session session_;
  std::int64_t total_;
  Run run_;
  ChunkSize chunk_;
  std::optional<Evaluator> evaluator_;
  std::int64_t entered_ = 0;   ///< the step at which this epoch began in this process
  std::int64_t verified_ = 0;  ///< steps run beside the interpreter
  bool first_ = true;
  bool ended_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point epoch_start_;
};

}  // namespace

History fit_steps(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                  const TrainingData& data, const TrainerOptions& options, const Metrics& metrics) {
  return Fit(model, loss, optimizer, data, options, metrics).run();
}

void check_steps(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                 const TrainingData& data, const TrainerOptions& options, const Metrics& metrics) {
  Fit(model, loss, optimizer, data, options, metrics).check();
}

}  // namespace tightloop::train
