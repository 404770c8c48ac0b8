// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/recorder.h>
#include <tightloop/train/loggers/logger.h>
#include <tightloop/train/loggers/thin_steps.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tightloop::train {

/// Calls loggers from a thread of its own: with what the training thread posts, and with the records of steps
/// that were written before that. Posting waits for no logger, except at the end.
class LogHub {
 public:
  /// `recorder` may be null: no steps are recorded. `constant`: the values of RunInfo::values that the
  /// recorder does not have, which follow its own.
  LogHub(std::vector<std::shared_ptr<Logger>> loggers, std::shared_ptr<Recorder> recorder,
         std::vector<double> constant = {});
  /// Ends without a history when end() was not called.
  ~LogHub();
  LogHub(const LogHub&) = delete;
  LogHub& operator=(const LogHub&) = delete;

  LoggerWants wants() const { return wants_; }
  bool started() const { return thread_.joinable(); }

  /// The first call.
  void start(RunInfo info);
  /// True when weights are wanted, and there is room for so many bytes of them beside those that wait.
  bool takes_weights(std::size_t bytes) const;
  void epoch(const EpochRecord& record, Weights weights);
  /// Returns when the loggers have got everything.
  void end(const History& history);

  /// What the user should know, once: a logger that failed.
  std::vector<std::string> notes();
  /// Steps that loggers which want few were not told; to be asked after end().
  std::int64_t thinned() const { return thinned_; }

 private:
  struct Message {
    std::uint64_t written;  ///< records that come before it
    std::function<void(Logger&)> tell;
    std::size_t bytes = 0;  ///< of weights
  };

  void post(std::function<void(Logger&)> tell, std::size_t bytes = 0);
  void close();
  void run();
  void tell(const std::function<void(Logger&)>& call);
  void share_out(std::uint64_t written);
  void pass_on(std::uint64_t until);
  void pass_on_batch();
  std::int64_t epoch_of(std::int64_t step);

  std::vector<std::shared_ptr<Logger>> loggers_;  ///< null: failed
  std::shared_ptr<Recorder> recorder_;
  std::vector<double> constant_;
  LoggerWants wants_;
  std::int64_t steps_per_epoch_ = 1;

  // The loggers' thread only.
  std::vector<std::int64_t> steps_;
  std::vector<double> values_;
  std::vector<StepRecord> batch_, thin_batch_;
  StepBudget budget_;
  StepThinner thinner_;
  double share_ = 1;          ///< of the records at hand that loggers which want few are told
  std::uint64_t passed_ = 0;  ///< records told so far
  std::int64_t thinned_ = 0, last_step_ = 0;
  std::int64_t epoch_ = 0, epoch_end_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Message> messages_;
  std::vector<std::string> notes_;
  std::size_t bytes_waiting_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tightloop::train
