// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/loss_scaling.h>
#include <tightloop/train/callbacks/reduce_on_plateau.h>
#include <tightloop/train/check_run.h>
#include <tightloop/train/fit_steps.h>
#include <tightloop/train/gradients_at.h>
#include <tightloop/train/loggers/logging.h>
#include <tightloop/train/profile/profiler.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <memory>

namespace tightloop::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Adds the time from here to the end of the block to a sum.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum) {}
  ~Timed() { sum_ += seconds_since(start_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& sum_;
  Clock::time_point start_ = Clock::now();
};

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

/// The options with the callbacks that the schedule and the loss scale need; checkpoints see what the other
/// callbacks did.
TrainerOptions completed(TrainerOptions options) {
  std::stable_partition(options.callbacks.begin(), options.callbacks.end(),
                        [](const auto& c) { return c->name() != "checkpoint"; });
  const auto* plateau = options.update.schedule ? options.update.schedule->plateau() : nullptr;
  if (plateau != nullptr)
    options.callbacks.insert(options.callbacks.begin(),
                             std::make_shared<ReduceOnPlateau>(*plateau, options.plateau_metric));
  if (options.session().update.loss_scale.active())
    options.callbacks.insert(options.callbacks.begin(), std::make_shared<LossScaling>());
  return options;
}

/// One call of fit().
class Fit {
 public:
  Fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer, const TrainingData& data,
      const TrainerOptions& options, const Metrics& metrics)
      : model_(model),
        loss_(loss),
        optimizer_(optimizer),
        data_(data),
        options_(completed(options)),
        metrics_(metrics),
        spec_(DataSpec::of(data.train.data, data.target, data.scales)),
        stages_(options_.unfreeze, model.module),
        length_(run_length(data.train, options_.session())),
        checkpoint_(options_.resume.empty() ? std::nullopt : std::optional(read_checkpoint(options_.resume))),
        stage_(checkpoint_ ? epoch_of(checkpoint_->step) : 1),
        session_(make_session(stage_)),
        total_(session_->steps()),
        run_(model, options_, *session_, optimizer.lr(), facts_of(options_, optimizer, data), data),
        logging_(options_, data_, model_, run_),
        profiler_(find_profiler(options_.callbacks)) {
    run_.set_later(later());
  }

  History run() {
    time_.compiling = seconds_since(made_);
    start();
    check_validation();
    while (more()) run_epoch(static_cast<std::int64_t>(run_.history().epochs.size()) + 1);
    session_->bound().check_files();
    end();
    for (const auto& callback : options_.callbacks) callback->weights(run_);
    run_.history().steps = session_->step();
    run_.history().time = time();
    add_skipped(session_->bound());
    note_waiting();
    if (evaluator_) add_skipped(evaluator_->bound());
    logging_.end();
    return std::move(run_.history());
  }

 private:
  TimeSplit time() const {
    TimeSplit out = time_;
    out.waiting = waited_s();
    out.steps -= out.waiting;
    out.total = seconds_since(made_);
    return out;
  }

  double waited_s() const { return waited_before_ + session_->bound().waited_s(); }

  void note_waiting() const {
    if (!data_.train.is_stream()) return;
    run_.note(fmt::format("{:.1f} % of the time went by waiting for samples",
                          100 * waited_s() / std::max(seconds_since(began_), 1e-9)));
  }

  void add_skipped(const BoundStep& bound) {
    for (const auto& [number, what] : bound.skipped()) run_.history().skipped.push_back(what);
  }

  /// An epoch whose steps are done may still want its record: a checkpoint can lie in between.
  bool more() const {
    const auto recorded = static_cast<std::int64_t>(run_.history().epochs.size());
    const bool waits = session_->step() > recorded * session_->steps_per_epoch();
    return !run_.stopping() && (session_->step() < total_ || waits);
  }

  void start() {
    for (const auto& callback : options_.callbacks) callback->start(run_);
    if (checkpoint_) resume();
    logging_.start();
    note_underflow();
  }

  /// f16 without a scaled loss may take gradients to zero: measured in f32, at the weights of the start.
  void note_underflow() {
    const bool half = model_.precision.is_mixed() && model_.precision.type == DType::f16;
    if (!half || options_.session().update.loss_scale.active() || data_.train.is_stream()) return;
    Model exact = model_;
    exact.precision = {};
    GradientProbe probe(exact, loss_, spec_, *session_, options_.compile, options_.seed);
    const std::string warning = measure_underflow(probe, *session_).warning();
    if (!warning.empty()) run_.note(warning);
  }

  void resume() {
    first_ = false;
    run_.resume(*checkpoint_, options_.resume);
    checkpoint_.reset();
    if (profiler_ != nullptr) profiler_->start(run_);  // its schedule counts from here
    if (options_.observer != nullptr) options_.observer->resumed(run_.history(), run_.step());
    if (options_.started) options_.started();
  }

  /// The epoch of the last of `steps` steps.
  std::int64_t epoch_of(std::int64_t steps) const {
    return std::max<std::int64_t>(1, (steps - 1) / length_.epoch + 1);
  }

  std::unique_ptr<Session> make_session(std::int64_t epoch) {
    stages_.set(epoch);
    SessionOptions options = options_.session();
    for (const auto& [path, at] : stages_.joins())
      if (at > 1 && at <= epoch) options.update.since[path] = at;
    return std::make_unique<Session>(model_, loss_, optimizer_, spec_, data_.train, options);
  }

  /// Paths that training changes in a later epoch.
  std::vector<std::string> later() const {
    std::vector<std::string> out;
    for (const auto& [path, at] : stages_.joins())
      if (at > stage_ && at <= options_.epochs) out.push_back(path);
    return out;
  }

  /// The graph in which this epoch's parameters are trained, with the states of the one before.
  void enter_stage(std::int64_t epoch) {
    if (stages_.same(stage_, epoch)) return;
    const std::int64_t step = session_->step();
    std::vector<std::pair<std::string, Array>> states;
    for (const auto& [name, array] : session_->states()) states.emplace_back(name, array.clone());
    add_skipped(session_->bound());
    waited_before_ = waited_s();
    session_.reset();
    stage_ = epoch;
    session_ = make_session(epoch);
    session_->take(states, step);
    run_.set_session(*session_);
    logging_.session_changed();
    run_.set_later(later());
  }

  /// Validation rows that break a rule show before hours of training.
  void check_validation() {
    if (!data_.validation || !options_.resume.empty()) return;
    const std::int64_t batches = options_.sanity_batches(*data_.validation);
    if (batches > 0) evaluator().check(batches);
  }

  void run_epoch(std::int64_t epoch) {
    run_.set_epoch(epoch);
    if (session_->step() == (epoch - 1) * length_.epoch) enter_stage(epoch);
    entered_ = session_->step();
    epoch_start_ = Clock::now();
    if (entered_ == (epoch - 1) * session_->steps_per_epoch()) {
      session_->bound().reset();
      for (const auto& callback : options_.callbacks) callback->epoch_start(run_);
    }
    if (!run_steps(std::min(total_, epoch * session_->steps_per_epoch()))) return;
    if (irregular(epoch)) end();
    finish_epoch(epoch);
  }

  /// A record that a longer run would not have: it comes after the last checkpoint.
  bool irregular(std::int64_t epoch) const {
    return run_.stopping() || run_.ended_inside_epoch() ||
           (session_->step() >= total_ && epoch % options_.evaluate_every != 0);
  }

  /// False when the loss was lost and the run put back.
  bool run_steps(std::int64_t end) {
    while (session_->step() < end && !run_.stopping()) {
      try {
        chunk(end);
      } catch (const NonFinite& e) {
        if (!recover(e)) throw;
        logging_.went_back();
        return false;
      }
      {
        const Timed timed(time_.callbacks);
        for (const auto& callback : options_.callbacks) {
          const Profiler::Scope scope(watching(*callback), SpanKind::callback, callback->name());
          callback->step(run_);
        }
        const Profiler::Scope scope(watching(), SpanKind::logging, "logging");
        logging_.step();
      }
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
    options_.observer->progress({run_.epoch(), options_.epochs, session_->step(), total_,
                                 session_->bound().mean_loss(), samples_per_s(), run_.lr()});
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
    if (verified_ < options_.verify_steps) return ++verified_, session_->run_verified();
    for (const auto& callback : options_.callbacks)
      end = std::min(end, callback->pause_after(session_->step()));
    const std::int64_t steps = std::min(chunk_.steps(), end - session_->step());
    session_->run(steps);
    chunk_.took(steps, seconds_since(start));
    time_.steps += seconds_since(start);
  }

  double samples_per_s() const {
    const double rows =
        static_cast<double>((session_->step() - entered_) * std::min(options_.batch, data_.train.count()));
    return rows / std::max(seconds_since(epoch_start_), 1e-9);
  }

  void finish_epoch(std::int64_t epoch) {
    EpochRecord record{epoch, session_->step(), session_->bound().mean_loss(), {}, samples_per_s(), 0, 0};
    const bool last = session_->step() >= total_ || run_.stopping();
    if (data_.validation && (last || epoch % options_.evaluate_every == 0)) record.validation = evaluate();
    record.seconds = run_.seconds();
    record.lr = run_.lr();
    for (const auto& callback : options_.callbacks) callback->measure(run_, record);
    run_.history().epochs.push_back(record);
    {
      const Timed timed(time_.callbacks);
      for (const auto& callback : options_.callbacks) {
        const Profiler::Scope scope(watching(*callback), SpanKind::callback, callback->name());
        callback->epoch(run_, record);
      }
      const Profiler::Scope scope(watching(), SpanKind::logging, "logging");
      logging_.epoch(record);
    }
    if (options_.observer != nullptr) options_.observer->epoch(record);
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    const Timed timed(time_.callbacks);
    for (const auto& callback : options_.callbacks) callback->end(run_);
  }

  Evaluation evaluate() {
    const Timed timed(time_.evaluation);
    Evaluator& own = evaluator();
    time_.last_evaluation = 0;
    const Timed pass(time_.last_evaluation);
    const Profiler::Scope scope(watching(), SpanKind::evaluation, "evaluation");
    return own.run();
  }

  /// What comes because the run ends is not what a step costs.
  Profiler* watching() const { return run_.stopping() ? nullptr : profiler_; }
  Profiler* watching(const Callback& callback) const { return &callback == profiler_ ? nullptr : watching(); }

  Evaluator& evaluator() {
    const auto weights = [this](const std::string& path) { return run_.evaluated(path); };
    if (!evaluator_)
      evaluator_.emplace(model_, loss_, metrics_, spec_, *data_.validation, options_.evaluation_batch(),
                         weights, options_.compile);
    else if (shown_ != run_.shown() || run_.shows())
      evaluator_->bind(weights);
    shown_ = run_.shown();
    return *evaluator_;
  }

  TimeSplit time_;
  Clock::time_point made_ = Clock::now();  ///< before the session, which is compiled
  const Model& model_;
  const nn::LossFn& loss_;
  const optim::Optimizer& optimizer_;
  const TrainingData& data_;
  TrainerOptions options_;
  const Metrics& metrics_;
  DataSpec spec_;
  Stages stages_;
  RunLength length_;
  std::optional<Checkpoint> checkpoint_;  ///< to go on from
  std::int64_t stage_;                    ///< an epoch of the present stage
  std::unique_ptr<Session> session_;
  double waited_before_ = 0;  ///< in earlier stages
  std::int64_t total_;
  Run run_;
  Logging logging_;
  Profiler* profiler_;  ///< null: none
  ChunkSize chunk_;
  std::optional<Evaluator> evaluator_;
  std::int64_t shown_ = 0;
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

}  // namespace tightloop::train
