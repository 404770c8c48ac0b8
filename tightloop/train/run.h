// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/plateau.h>
#include <tightloop/train/checkpoint.h>
#include <tightloop/train/history_table.h>
#include <tightloop/train/trainer.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// A training in progress, as callbacks see and steer it.
class Run {
 public:
  Run(const Model& model, const TrainerOptions& options, Session& session, double base_lr, RunFacts facts,
      const TrainingData& data);

  Session& session() { return *session_; }
  const Session& session() const { return *session_; }
  /// Goes on with another session, which has taken the states of the one before.
  void set_session(Session& session);
  const Model& model() const { return model_; }
  const TrainerOptions& options() const { return options_; }
  const History& history() const { return history_; }
  History& history() { return history_; }
  std::int64_t step() const { return session_->step(); }
  std::int64_t epoch() const { return epoch_; }  ///< from 1
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }
  /// Since the run began, those before a resume included.
  double seconds() const;

  /// Ends the run after the present chunk or epoch; the first reason counts.
  void stop(std::string reason);
  bool stopping() const { return stopping_; }
  bool ended_inside_epoch() const { return step() % session_->steps_per_epoch() != 0; }
  void note(const std::string& text) const;

  /// The metric that is watched when none is named: the validation loss, or the training loss.
  std::string usual_metric() const { return facts_.usual_metric(); }
  const RunFacts& facts() const { return facts_; }
  /// None when the epoch had no such value.
  std::optional<double> value_of(const EpochRecord& record, const std::string& name) const;

  /// The optimizer's.
  double base_lr() const { return base_lr_; }
  /// The rate of the last step.
  double lr();
  /// Multiplies the rate from now on by `scale`, in the place of what `who` gave before.
  void scale_rate(const std::string& who, double scale);

  /// The present value of a parameter or buffer that evaluations see: an average where there are some.
  Array evaluated(const std::string& path);
  /// From now on evaluations see what `weights` finds; where it finds nothing (an empty optional), the
  /// present values.
  void show(std::function<std::optional<Array>(const std::string& path)> weights);
  /// Changes when evaluated() has other memory than before.
  std::int64_t shown() const { return shown_; }
  /// True while show() decides; then evaluated() may make what it gives, and must be asked each time.
  bool shows() const { return shown_weights_ != nullptr; }
  /// The model is to end with the average that show() gives: nobody else decides its weights.
  void end_with_average() { ends_with_average_ = true; }
  bool ends_with_average() const { return ends_with_average_; }
  /// Paths that join the training later, which changing() is to name too.
  void set_later(std::vector<std::string> paths) { later_ = std::move(paths); }
  /// Everything that training changes of the model, now or later: path and present value, as views.
  std::vector<std::pair<std::string, Array>> changing();

  /// Copies all that makes the rest of the run, into the memory of `spare` where it fits.
  Checkpoint checkpoint(Checkpoint spare = {});
  /// The same without the history, which add_history() puts in before the checkpoint is written: its size
  /// grows with the run, and so a copy that may never be written does not have it.
  Checkpoint states_only(Checkpoint spare = {});
  /// The first `epochs` records.
  void add_history(Checkpoint& checkpoint, std::size_t epochs);
  /// Goes on from there. Throws Error listing what does not fit.
  void resume(const Checkpoint& checkpoint, const std::string& name);

 private:
  void check_data(const Checkpoint& checkpoint, const std::string& name);
  void describe_weights();

  const Model& model_;
  const TrainerOptions& options_;
  Session* session_;
  double base_lr_;
  RunFacts facts_;
  const TrainingData& data_;
  std::string fingerprint_;             ///< made when it is first needed
  std::string weight_paths_;            ///< for load_weights(), one a line
  std::vector<std::string> untouched_;  ///< of these, what the session does not have
  HistoryRows history_rows_;
  std::int64_t epoch_ = 1;
  bool stopping_ = false;
  History history_;
  double lr_;
  double seconds_before_ = 0;
  double started_;
  std::vector<std::pair<std::string, double>> scales_;
  std::vector<std::string> later_;
  std::function<std::optional<Array>(const std::string& path)> shown_weights_;
  std::int64_t shown_ = 0;
  bool ends_with_average_ = false;
};

}  // namespace tightloop::train
