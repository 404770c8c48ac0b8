// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/batch_limit.h>
#include <tightloop/train/bound_step.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// The loss or a parameter became NaN or infinite. The model holds the last good weights when this is thrown.
class NonFinite : public Error {
 public:
  explicit NonFinite(const std::string& what, std::int64_t step = -1) : Error(what), step_(step) {}
  /// The step whose loss or update it was, or -1.
  std::int64_t step() const { return step_; }

 private:
  std::int64_t step_;
};

struct SessionOptions {
  std::int64_t batch = 32;
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
  CompileOptions compile = {};
  UpdateOptions update = {};
  std::int64_t epochs = 1;     ///< with max_steps, the length of the run
  std::int64_t max_steps = 0;  ///< 0: no limit
  /// Batches of an epoch. The next epoch goes on in the rows where this one ended.
  BatchLimit limit_batches = {};
};

/// Throws Error for a batch that a full or the last step of an epoch would have, and a check of the step
/// forbids.
void check_batches(const StepGraph& step, const Sampling& sampling);

/// Steps of an epoch and of the run. Throws Error when an epoch would have no step.
RunLength run_length(const DataPart& part, const SessionOptions& options);

/// A training run between its epochs: the compiled step, where it stands, and how to get out when a step
/// fails.
class Session {
 public:
  /// Compiles the step; it will change the model's parameters in place. Throws Error when data, model and
  /// loss do not fit or an epoch would have no step. `model` and `part` must outlive it.
  Session(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer, const DataSpec& data,
          const DataPart& part, const SessionOptions& options);

  std::int64_t step() const { return step_; }
  std::int64_t steps_per_epoch() const { return length_.epoch; }
  /// Steps of the whole run.
  std::int64_t steps() const { return length_.run; }
  const Sampling& sampling() const { return sampling_; }
  const UpdateOptions& update() const { return update_; }
  const DataSpec& data() const { return data_; }
  BoundStep& bound() { return bound_; }
  const BoundStep& bound() const { return bound_; }
  Program& program() { return bound_.program(); }

  /// Runs `steps` steps in native code. Throws NonFinite naming the step and, found by replaying it, the op,
  /// and Error for data that breaks a rule.
  void run(std::int64_t steps);
  /// Runs one step beside the interpreter. Throws Error naming the first tensor that differs.
  void run_verified();

  /// False before the first step of this process.
  bool has_run() const { return ran_; }
  /// Views of all states of the step, by name.
  std::vector<std::pair<std::string, Array>> states();
  bool has_state(const std::string& name) const;
  /// Copies of all states, in the order of states().
  std::vector<Array> copy() const;
  /// The same into `copies` where they fit, so that nothing is allocated the next time.
  void copy_to(std::vector<Array>& copies) const;
  /// Back to copies that were taken before step `step`.
  void go_to(const std::vector<Array>& states, std::int64_t step);
  /// Takes the values of states of another session of this run by their names.
  void take(const std::vector<std::pair<std::string, Array>>& states, std::int64_t step);
  /// The states were written from outside; the next step is `step`.
  void go_on_at(std::int64_t step);

 private:
  void bind_parameters();
  void start_states();
  void keep();
  void go_back();
  bool parameters_finite() const;
  void check_spike();
  void check_scale();
  std::int64_t first_of_update(std::int64_t last) const;
  [[noreturn]] void explain(std::int64_t end);
  std::int64_t first_bad_update(std::int64_t last);

  const Model& model_;
  UpdateOptions update_;
  RunLength length_;
  DataSpec data_;
  BoundStep bound_;
  Sampling sampling_;
  std::uint64_t seed_;
  std::int64_t step_ = 0;
  std::int64_t kept_step_ = 0;
  bool ran_ = false;
  std::vector<std::string> names_;
  std::vector<Array> states_;      ///< views, in the program's order
  std::vector<Array> kept_;        ///< copies from kept_step_
  std::vector<Array> parameters_;  ///< views of those that training changes
};

}  // namespace tightloop::train
