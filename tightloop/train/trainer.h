// SPDX-License-Identifier: Apache-2.0
#pragma once
//   tl::Trainer trainer{{.epochs = 30, .batch = 128}};
//   trainer.fit(net, tl::nn::make_loss("mse"), tl::optim::Adam({.lr = 5e-4}), dataset);   // last field: the
//   target
#include <tightloop/train/callback.h>
#include <tightloop/train/loggers/logger.h>
#include <tightloop/train/stages.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

struct TrainerOptions {
  std::int64_t epochs = 10;
  std::int64_t max_steps = 0;  ///< 0: no limit
  std::int64_t batch = 32;
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
  std::int64_t evaluate_every = 1;        ///< epochs; the last one always counts
  std::int64_t verify_steps = 0;          ///< first steps that run beside the interpreter
  std::vector<std::string> metrics = {};  ///< of the validation part, by name
  CompileOptions compile = {};
  Precision precision = {};  ///< in which types the model computes, where the model itself says nothing
  Observer* observer = nullptr;
  std::function<void()> started = {};  ///< called when the first step went well
  /// Schedule of the rate, clipping, averages of the weights.
  UpdateOptions update = {};
  /// Bytes that the training may take, 0: no limit. Where `batch` rows take more, the step goes by smaller
  /// batches, whose gradients make one update of `batch` rows, or computes values of its forward again, by
  /// what costs least (train/memory_budget.h). Throws Error naming the least that would do.
  std::size_t memory = 0;
  bool recompute_to_fit = true;      ///< false: smaller batches only
  std::int64_t evaluation_rows = 0;  ///< of a batch of an evaluation; 0: as evaluation_batch() says
  std::vector<Thaw> unfreeze = {};   ///< parameters that join the training later
  bool frozen_norm_evaluates =
      false;  ///< BatchNorm whose weight and bias are frozen uses its running statistics
  std::string schedule_where = {};  ///< its place in a job, for messages
  std::string plateau_metric = {};  ///< what reduce_on_plateau watches; "": the validation or training loss
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< called in this order
  /// A checkpoint to go on from, bit for bit as if the run had not ended; "" starts anew.
  std::string resume = {};
  std::vector<std::shared_ptr<Logger>> loggers = {};  ///< get what the run tells, on a thread of their own
  std::int64_t log_every =
      kLogAutomatically;            ///< steps from one that loggers get to the next; 0: epochs only
  RunDescription description = {};  ///< what loggers show of the run beside its numbers

  // For development.
  /// Batches of an epoch, or a share of them; the next epoch goes on in the rows where this one ended.
  BatchLimit limit_batches = {};
  /// The first batches of the validation rows, counted in batches of `batch` rows, or a share of them.
  BatchLimit limit_validation_batches = {};
  /// Above 0: trains on the first so many batches alone, in order and without what is random in transforms,
  /// and validates on the same rows.
  std::int64_t overfit_batches = 0;
  /// Batches of an evaluation that run before the first step of a new run, so that wrong validation rows show
  /// at once. Nothing said: 2 of rows in memory, none of a stream.
  std::optional<std::int64_t> sanity_check = {};

  /// What a session of this run is made with.
  SessionOptions session() const;
  /// Rows of a batch of an evaluation: more than a small batch for less overhead, few enough for the cache.
  std::int64_t evaluation_batch() const {
    return evaluation_rows > 0 ? evaluation_rows : batch < 256 ? 256 : batch;
  }
  std::int64_t sanity_batches(const DataPart& validation) const {
    return sanity_check.value_or(validation.is_stream() ? 0 : 2);
  }
};

/// What a run trains on. `target` empty: the last field.
struct TrainingData {
  DataPart train;
  std::optional<DataPart> validation = {};
  std::vector<data::FieldScale> scales = {};
  std::string target = {};
};

/// Parameters that nobody gave a value are drawn from the seed.
void initialize_missing(const Model& model, std::uint64_t seed);

/// What a run with these options sees of `data`: fewer batches, and validation as an evaluation sees it.
TrainingData seen_by(const TrainerOptions& options, TrainingData data);

/// Throws Error for options out of range, or that contradict each other.
void check(const TrainerOptions& options);

/// Trains, evaluates and predicts.
class Trainer {
 public:
  explicit Trainer(TrainerOptions options = {});
  Trainer(TrainerOptions options, Metrics metrics);

  /// Trains the module in place. Parameters without a value are drawn from the seed. Throws Error when things
  /// do not fit, NonFinite when the loss is lost.
  template <class M>
  History fit(M& module, const nn::LossFn& loss, const optim::Optimizer& optimizer,
              const data::Dataset& train) {
    return fit(model_of(module), loss, optimizer, {.train = {train}});
  }
  template <class M>
  History fit(M& module, const nn::LossFn& loss, const optim::Optimizer& optimizer,
              const data::Dataset& train, const data::Dataset& validation) {
    return fit(model_of(module), loss, optimizer, {.train = {train}, .validation = DataPart{validation}});
  }
  /// The same with streams, see stream().
  template <std::derived_from<nn::Module> M>
  History fit(M& module, const nn::LossFn& loss, const optim::Optimizer& optimizer, DataPart train,
              std::optional<DataPart> validation = {}) {
    return fit(model_of(module), loss, optimizer,
               {.train = std::move(train), .validation = std::move(validation)});
  }
  History fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
              const TrainingData& data);

  template <class M>
  Evaluation evaluate(M& module, const nn::LossFn& loss, const data::Dataset& data) {
    return evaluate(model_of(module), loss, DataPart{data});
  }
  template <std::derived_from<nn::Module> M>
  Evaluation evaluate(M& module, const nn::LossFn& loss, const DataPart& part) {
    return evaluate(model_of(module), loss, part);
  }
  Evaluation evaluate(const Model& model, const nn::LossFn& loss, const DataPart& part,
                      const std::vector<data::FieldScale>& scales = {}, const std::string& target = "");

  /// `inputs` holds the inputs alone, in the model's order.
  template <class M>
  Array predict(M& module, const data::Dataset& inputs) {
    return predict(model_of(module), DataPart{inputs});
  }
  template <std::derived_from<nn::Module> M>
  Array predict(M& module, const DataPart& inputs) {
    return predict(model_of(module), inputs);
  }
  /// `skipped`: see predict_all().
  Array predict(const Model& model, const DataPart& inputs, const std::vector<data::FieldScale>& scales = {},
                std::map<std::int64_t, std::string>* skipped = nullptr);

  const TrainerOptions& options() const { return options_; }

 private:
  /// `model` with the options' precision, unless it has one of its own.
  Model computed(Model model) const;

  TrainerOptions options_;
  Metrics metrics_;
};

}  // namespace tightloop::train

namespace tightloop {
using train::Trainer;
}
