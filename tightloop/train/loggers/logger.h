// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the numbers of a run go while it goes on. A class of your own needs name() and what it wants to see:
//
//   struct Print : tl::train::Logger {
//     std::string name() const override { return "print"; }
//     void epoch(const tl::train::EpochRecord& e, const tl::train::Weights&) override { std::printf("%g\n",
//     e.train_loss); }
//   };
#include <tightloop/base/options.h>
#include <tightloop/train/history.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::train {

/// Of TrainerOptions::log_every: every 50 steps, from step 50,000 on every 100, from 100,000 on every 200 and
/// so on, so that the logs of long runs stay small.
inline constexpr std::int64_t kLogAutomatically = -1;

/// Recorded results of one step.
struct StepRecord {
  std::int64_t step = 0;           ///< steps done with it
  std::int64_t epoch = 0;          ///< from 1
  std::span<const double> values;  ///< in the order of RunInfo::values
};

/// Parameters and buffers by path.
using Weights = std::vector<std::pair<std::string, Array>>;

/// A part of the model that gets values from others: a layer, an input or the loss.
struct ModelPart {
  std::string path;  ///< "encoder.0.linear1"
  std::string kind;  ///< "Linear(40, 1)", "input", "parameter", "loss"
  std::vector<std::string> from;
  TensorType type;  ///< of what it gives to others
};

/// Where the values of a run are explained to those who look at its logs.
struct RunDescription {
  std::string job;          ///< its text, TOML
  Options hyperparameters;  ///< numbers, texts, true and false
};

/// What loggers are told before anything else.
struct RunInfo {
  std::vector<std::string>
      values;                     ///< of a step: "loss", "lr", and what else the step computes as one number
  DType step_dtype = DType::f32;  ///< in which the step computes them
  std::vector<std::string> metrics;  ///< of an evaluation
  std::int64_t epochs = 0, steps = 0, steps_per_epoch = 0;
  std::int64_t resumed_at = 0;      ///< the step that the run goes on from; 0: it begins
  std::vector<EpochRecord> before;  ///< epochs before that
  RunDescription description;
  std::vector<ModelPart> model;  ///< where a logger wants it
  Array samples;  ///< the first validation inputs [rows, ...] where a logger wants them; or a scalar
};

/// Costs of what a logger wants to see: these are made only when one asks.
struct LoggerWants {
  bool weights =
      false;           ///< copies of parameters and buffers at the ends of epochs, ten times a second at most
  bool model = false;  ///< RunInfo::model
  std::int64_t samples = 0;  ///< RunInfo::samples, so many
  bool thinned = false;      ///< of steps that come by the thousand only those that matter, see thin_steps.h
};

/// Is called from a thread of its own, in the order of the run, while training goes on. When a function
/// throws, the logger is called no more, the run says so once and goes on.
class Logger {
 public:
  virtual ~Logger() = default;
  /// "jsonl"
  virtual std::string name() const = 0;
  virtual LoggerWants wants() const { return {}; }

  /// When the run's first step went well.
  virtual void start(const RunInfo&) {}
  /// Steps that were recorded; several in one call.
  virtual void steps(std::span<const StepRecord>) {}
  /// `weights` as evaluations see them; empty unless they are wanted, and when too many of earlier epochs
  /// wait for slow loggers.
  virtual void epoch(const EpochRecord&, const Weights& /*weights*/) {}
  /// Forgets what came after `step`: the run has gone back, or goes on from a checkpoint. In the latter case
  /// it comes after start().
  virtual void rewind(std::int64_t /*step*/) {}
  /// Nothing more is there to tell for now: what was told should reach the disk.
  virtual void flush() {}
  /// The run has ended, by whatever reason; nothing follows.
  virtual void end(const History&) {}
};

}  // namespace tightloop::train
