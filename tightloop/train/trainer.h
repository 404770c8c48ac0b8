// SPDX-License-Identifier: Apache-2.0
#pragma once
//   tl::Trainer trainer{{.epochs = 30, .batch = 128}};
//   trainer.fit(net, tl::nn::make_loss("mse"), tl::optim::Adam({.lr = 5e-4}), dataset);   // last field: the
//   target
#include <tightloop/train/callback.h>

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
  Observer* observer = nullptr;
  std::function<void()> started = {};  ///< called when the first step went well
  /// Schedule of the rate, clipping, averages of the weights.
  UpdateOptions update = {};
  std::string plateau_metric = {};  ///< what reduce_on_plateau watches; "": the validation or training loss
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< called in this order
  /// A checkpoint to go on from, bit for bit as if the run had not ended; "" starts anew.
  std::string resume = {};

  /// What a session of this run is made with.
  SessionOptions session() const;
  /// Rows of a batch of an evaluation: more than a small batch for less overhead, few enough for the cache.
  std::int64_t evaluation_batch() const { return batch < 256 ? 256 : batch; }
};

/// What a run trains on. `target` empty: the last field.
struct TrainingData {
  DataPart train;
  std::optional<DataPart> validation = {};
  std::vector<data::FieldScale> scales = {};
  std::string target = {};
};

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

  /// Throws Error for what fit() would refuse before its first step, callbacks included. Trains nothing.
  void check(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
             const TrainingData& data) const;

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
  Array predict(const Model& model, const DataPart& inputs, const std::vector<data::FieldScale>& scales = {});

  const TrainerOptions& options() const { return options_; }

 private:
  TrainerOptions options_;
  Metrics metrics_;
};

}  // namespace tightloop::train

namespace tightloop {
using train::Trainer;
}
