// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/fit_whole.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <limits>

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

/// Parameters that nobody gave a value are drawn from the seed.
void initialize_missing(const Model& model, std::uint64_t seed) {
  std::uint32_t stream = 0;
  for (const auto& [path, parameter] : model.module->parameters()) {
    if (!parameter->has_value()) parameter->initialize({seed, stream});
    ++stream;
  }
}

Metrics by_name(const std::vector<std::string>& names) {
  Metrics out;
  for (const auto& n : names) out.push_back(nn::make_metric(n));
  return out;
}

/// Validation sees what training sees, but for what is random.
TrainingData with_evaluation_transforms(TrainingData data) {
  if (data.validation && !data.validation->transforms && data.train.transforms)
    data.validation->transforms = data.train.transforms->evaluation();
  return data;
}

/// One call of fit().
class Fit {
 public:
  Fit(const Model& model, const nn::LossFn& loss, const TrainingData& data, const TrainerOptions& options,
      const Metrics& metrics, const DataSpec& spec, Session& session)
      : model_(model),
        loss_(loss),
        data_(data),
        options_(options),
        metrics_(metrics),
        spec_(spec),
        session_(session) {
    const std::int64_t per_epoch = session.steps_per_epoch();
    if (__builtin_mul_overflow(options.epochs, per_epoch, &total_))
      total_ = std::numeric_limits<std::int64_t>::max();
    if (options.max_steps > 0) total_ = std::min(total_, options.max_steps);
  }

  History run() {
    for (std::int64_t epoch = 1; session_.step() < total_ && !history_.stopped; ++epoch) run_epoch(epoch);
    history_.steps = session_.step();
    add_skipped(session_.bound());
    if (evaluator_) add_skipped(evaluator_->bound());
    return std::move(history_);
  }

 private:
  void add_skipped(const BoundStep& bound) {
    for (const auto& [number, what] : bound.skipped()) history_.skipped.push_back(what);
  }

  void run_epoch(std::int64_t epoch) {
    session_.bound().reset();
    const std::int64_t first = session_.step();
    const std::int64_t end = std::min(total_, epoch * session_.steps_per_epoch());
    epoch_start_ = Clock::now();
    while (session_.step() < end && !history_.stopped) {
      chunk(end);
      if (options_.observer == nullptr) continue;
      options_.observer->progress(progress(epoch, first));
      history_.stopped = options_.observer->stop();
    }
    finish_epoch(epoch, first);
  }

  void chunk(std::int64_t end) {
    const bool first = session_.step() == 0;
    run_chunk(end);
    if (first && options_.started) options_.started();
  }

  void run_chunk(std::int64_t end) {
    const auto start = Clock::now();
    if (session_.step() < options_.verify_steps) return session_.run_verified();
    const std::int64_t steps = std::min(chunk_.steps(), end - session_.step());
    session_.run(steps);
    chunk_.took(steps, seconds_since(start));
  }

  double samples_per_s(std::int64_t first) const {
    const double rows =
        static_cast<double>((session_.step() - first) * std::min(options_.batch, data_.train.count()));
    return rows / std::max(seconds_since(epoch_start_), 1e-9);
  }

  Progress progress(std::int64_t epoch, std::int64_t first) {
    return {
        epoch, options_.epochs, session_.step(), total_, session_.bound().mean_loss(), samples_per_s(first)};
  }

  void finish_epoch(std::int64_t epoch, std::int64_t first) {
    EpochRecord record{epoch, session_.step(), session_.bound().mean_loss(), {}, samples_per_s(first), 0};
    const bool last = session_.step() >= total_ || history_.stopped;
    if (data_.validation && (last || epoch % options_.evaluate_every == 0))
      record.validation = evaluator().run();
    record.seconds = seconds_since(start_);
    history_.epochs.push_back(record);
    if (options_.observer != nullptr) options_.observer->epoch(record);
  }

  Evaluator& evaluator() {
    if (evaluator_) return *evaluator_;
    const auto& trained = session_.bound().step().parameters;
    const auto lookup = [&](const std::string& path) {
      const bool known = std::find(trained.begin(), trained.end(), path) != trained.end();
      return known ? session_.program().state(path) : model_.module->state(path).array();
    };
    evaluator_.emplace(model_, loss_, metrics_, spec_, *data_.validation, options_.evaluation_batch(), lookup,
                       options_.compile);
    return *evaluator_;
  }

  const Model& model_;
  const nn::LossFn& loss_;
  const TrainingData& data_;
  const TrainerOptions& options_;
  const Metrics& metrics_;
  const DataSpec& spec_;
  Session& session_;
  std::int64_t total_ = 0;
  ChunkSize chunk_;
  std::optional<Evaluator> evaluator_;
  History history_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point epoch_start_;
};

}  // namespace

Trainer::Trainer(TrainerOptions options) : Trainer(options, by_name(options.metrics)) {}

Trainer::Trainer(TrainerOptions options, Metrics metrics)
    : options_(std::move(options)), metrics_(std::move(metrics)) {
  if (options_.epochs < 1)
    throw Error(fmt::format("the trainer needs at least 1 epoch, not {}", options_.epochs));
  if (options_.evaluate_every < 1)
    throw Error(fmt::format("evaluate_every must be at least 1 epoch, not {}", options_.evaluate_every));
}

History Trainer::fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& given) {
  initialize_missing(model, options_.seed);
  const TrainingData data = with_evaluation_transforms(given);
  if (const auto* lbfgs = dynamic_cast<const optim::Lbfgs*>(&optimizer))
    return fit_whole(model, loss, *lbfgs, data, options_, metrics_);
  const DataSpec spec = DataSpec::of(data.train.data, data.target, data.scales);
  Session session(model, loss, optimizer, spec, data.train,
                  {options_.batch, options_.shuffle, options_.drop_last, options_.seed, options_.compile});
  return Fit(model, loss, data, options_, metrics_, spec, session).run();
}

Evaluation Trainer::evaluate(const Model& model, const nn::LossFn& loss, const DataPart& part,
                             const std::vector<data::FieldScale>& scales, const std::string& target) {
  initialize_missing(model, options_.seed);
  const DataSpec spec = DataSpec::of(part.data, target, scales);
  Evaluator evaluator(model, loss, metrics_, spec, part, options_.evaluation_batch(), parameters_of(model),
                      options_.compile);
  Evaluation out = evaluator.run();
  for (const auto& [number, what] : evaluator.bound().skipped()) out.skipped.push_back(what);
  return out;
}

Array Trainer::predict(const Model& model, const DataPart& inputs,
                       const std::vector<data::FieldScale>& scales) {
  initialize_missing(model, options_.seed);
  DataSpec spec = DataSpec::of(inputs.data, "", scales);
  spec.inputs.insert(spec.inputs.end(), spec.target.begin(), spec.target.end());
  spec.target.clear();
  return predict_all(model, spec, inputs, options_.evaluation_batch(), options_.compile);
}

}  // namespace tightloop::train
