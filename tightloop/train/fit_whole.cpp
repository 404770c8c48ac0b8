// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/fit_whole.h>
#include <tightloop/train/loggers/hub.h>
#include <tightloop/train/loggers/logging.h>

#include <tightloop/optim/flat.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace tightloop::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The model's memory may be written from now on.
const Model& unshared(const Model& model) {
  for (const auto& p : model.module->parameters()) p.parameter->variable().exclusive();
  return model;
}

/// The average loss over all rows as a function of the trained parameters, one after the other.
class WholeLoss {
 public:
  explicit WholeLoss(Session& session) : session_(session) {
    const ir::Graph& graph = session.bound().step().graph;
    for (const auto& path : session.bound().step().parameters) {
      if (graph.output(gradient_state(path)) == nullptr) continue;
      parameters_.push_back(session.program().state(path));
      gradients_.push_back(session.program().state(gradient_state(path)));
    }
    weight_ = session.program().state(kWeightSum);
  }

  std::vector<double> start() const {
    std::vector<double> out(static_cast<std::size_t>(optim::flat_size(parameters_)));
    optim::flatten(parameters_, out);
    return out;
  }

  void put(std::span<const double> x) { optim::unflatten(x, parameters_); }

  double operator()(std::span<const double> x, std::span<double> gradient) {
    put(x);
    session_.bound().reset();
    session_.bound().run(session_.sampling(), 0, session_.steps_per_epoch());
    session_.bound().check_data();
    optim::flatten(gradients_, gradient);
    for (double& g : gradient) g /= weight_.at(0);
    return session_.bound().mean_loss();
  }

 private:
  Session& session_;
  std::vector<Array> parameters_, gradients_;  ///< views
  Array weight_;
};

/// Null when nobody is to be told of iterations.
std::shared_ptr<Recorder> recorder_of(const TrainerOptions& options) {
  if (options.loggers.empty() || options.log_every == 0) return nullptr;
  return std::make_shared<Recorder>(std::vector<std::string>{"loss"}, recorded_steps(options.log_every),
                                    4096);
}

class Fit {
 public:
  Fit(const Model& model, const nn::LossFn& loss, const optim::Lbfgs& optimizer, const TrainingData& data,
      const TrainerOptions& options, const Metrics& metrics)
      : data_(data),
        options_(options),
        iterations_(optimizer.options().max_iter),
        recorder_(recorder_of(options)),
        next_logged_(recorder_ == nullptr ? 0 : recorder_->steps().after(0)),
        logs_(options.loggers, recorder_, {optimizer.lr()}),
        spec_(DataSpec::of(data.train.data, data.target, data.scales)),
        session_(unshared(model), loss, optimizer, spec_, data.train,
                 {.batch = options.batch,
                  .shuffle = false,
                  .seed = options.seed,
                  .compile = options.compile,
                  .limit_batches = options.limit_batches}),
        whole_(session_),
        search_(
            optimizer.options(), [this](auto x, auto gradient) { return whole_(x, gradient); },
            whole_.start()) {
    search_.watch([this](std::int64_t iteration, double loss) { log_step(iteration, loss); });
    if (data.validation)
      evaluator_.emplace(model, loss, metrics, spec_, *data.validation, options.evaluation_batch(),
                         parameters_of(model), options.compile);
  }

  History run() {
    if (evaluator_) evaluator_->check(options_.sanity_batches(*data_.validation));
    first_pass();
    try {
      for (std::int64_t epoch = 1; epoch <= options_.epochs && !ended_; ++epoch) run_epoch(epoch);
    } catch (const Error& e) {  // the data was good in the first pass, so it is the loss
      session_.bound().check_files();
      whole_.put(search_.x());
      end_logs();
      throw NonFinite(e.what());
    }
    session_.bound().check_files();
    end_logs();
    history_.time.total = seconds_since(start_);
    history_.time.steps = history_.time.total - history_.time.evaluation;
    return std::move(history_);
  }

 private:
  /// The run's first evaluation says what is wrong with the data, and is the one that is verified.
  void first_pass() {
    session_.bound().reset();
    const std::int64_t verified = std::min(options_.verify_steps, session_.steps_per_epoch());
    for (std::int64_t i = 0; i < verified; ++i) session_.run_verified();
    if (verified < session_.steps_per_epoch()) session_.run(session_.steps_per_epoch() - verified);
  }

  /// Iterations of the whole run.
  std::int64_t most_steps() const {
    std::int64_t all = 0;
    if (__builtin_mul_overflow(options_.epochs, iterations_, &all))
      all = std::numeric_limits<std::int64_t>::max();
    return options_.max_steps > 0 ? std::min(all, options_.max_steps) : all;
  }

  void run_epoch(std::int64_t epoch) {
    const auto epoch_start = Clock::now();
    const optim::Minimum m = search_.step();
    whole_.put(search_.x());
    history_.steps += m.iterations;
    if (epoch == 1 && options_.started) options_.started();
    const double rows = static_cast<double>(m.evaluations * data_.train.count());
    const double rate = rows / std::max(seconds_since(epoch_start), 1e-9);
    if (options_.observer != nullptr) {
      options_.observer->progress({epoch, options_.epochs, history_.steps, most_steps(), m.loss, rate});
      history_.stopped = options_.observer->stop();
    }
    ended_ = history_.stopped || m.converged || epoch == options_.epochs || history_.steps >= most_steps();
    EpochRecord record{epoch, history_.steps, m.loss, {}, rate, 0};
    if (evaluator_ && (ended_ || epoch % options_.evaluate_every == 0)) record.validation = evaluate();
    record.seconds = seconds_since(start_);
    history_.epochs.push_back(record);
    log(record);
    if (options_.observer != nullptr) options_.observer->epoch(record);
  }

  /// The loss that an iteration came to.
  void log_step(std::int64_t iteration, double loss) {
    if (recorder_ == nullptr || iteration != next_logged_) return;
    const RecordedScalar value[] = {{DType::f64, &loss}};
    recorder_->write(iteration, value);
    next_logged_ = recorder_->steps().after(iteration);
  }

  void log(const EpochRecord& record) {
    if (options_.loggers.empty()) return;
    if (!logs_.started()) {
      RunInfo info;
      if (recorder_ != nullptr) info.values = {"loss", std::string(kRate)};
      info.steps_per_epoch = iterations_;
      info.metrics = options_.metrics;
      info.epochs = options_.epochs;
      info.steps = most_steps();
      info.description = options_.description;
      logs_.start(std::move(info));
    }
    logs_.epoch(record, {});
  }

  void end_logs() {
    logs_.end(history_);
    if (options_.observer == nullptr) return;
    for (const auto& note : logs_.notes()) options_.observer->note(note);
  }

  Evaluation evaluate() {
    const auto start = Clock::now();
    Evaluation out = evaluator_->run();
    history_.time.last_evaluation = seconds_since(start);
    history_.time.evaluation += history_.time.last_evaluation;
    return out;
  }

  const TrainingData& data_;
  const TrainerOptions& options_;
  std::int64_t iterations_;             ///< of an epoch
  std::shared_ptr<Recorder> recorder_;  ///< null: no iterations are logged
  std::int64_t next_logged_ = 0;
  LogHub logs_;
  DataSpec spec_;
  Session session_;
  WholeLoss whole_;
  optim::LbfgsSearch search_;
  std::optional<Evaluator> evaluator_;
  History history_;
  bool ended_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void check_whole(const TrainingData& data) {
  if (!data.train.weighted.empty() || (data.train.transforms && data.train.transforms->random()))
    throw Error(
        "lbfgs compares losses over the same rows, so it takes no sampler that draws rows and no random "
        "transforms; take another optimizer, or leave them out");
  if (data.train.is_stream())
    throw Error(
        "lbfgs goes through all rows several times a step and wants them in memory, but the training data is "
        "a stream: take data.memory = \"resident\" or another optimizer");
}

History fit_whole(const Model& model, const nn::LossFn& loss, const optim::Lbfgs& optimizer,
                  const TrainingData& data, const TrainerOptions& options, const Metrics& metrics) {
  check_whole(data);
  return Fit(model, loss, optimizer, data, options, metrics).run();
}

}  // namespace tightloop::train
