// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the graphs of train/step.h are collected in while they are traced.
#include <tightloop/engine/trace.h>
#include <tightloop/train/step.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// Collects a graph's inputs, states and outputs while it is being traced.
class StepBuilder {
 public:
  /// `data` must outlive it.
  StepBuilder(std::string name, const DataSpec& data);

  const Tensor& step() const { return step_; }
  const Tensor& seed() const { return seed_; }

  /// i64[B]: the number of each sample in the whole data set. Where a row may come twice in an epoch it is
  /// the place in the epoch's order, so that both are drawn for apart.
  Tensor samples();
  /// i64[]: how often the rows have been gone through.
  const Tensor& epoch();

  std::vector<Tensor> batch_inputs();
  /// After batch_inputs(). `prediction` says how many classes there are where targets are mixed.
  Tensor batch_target(const Tensor& prediction);

  Tensor add_input(const std::string& name, const std::string& role, TensorType type);
  Tensor add_state(const std::string& name, TensorType type) {
    return add_input(name, "state", std::move(type));
  }
  void add_output(const std::string& name, Tensor value) {
    graph_.outputs.push_back({name, std::move(value)});
  }
  /// Adds `amount` to a sum, f64[].
  void accumulate(const char* name, const Tensor& amount);

  void add_loss(const nn::LossValue& loss);
  /// A running average of the losses, and the first step whose loss is far above it; such a loss is left out.
  void watch_spikes(const Tensor& loss, const SpikeRule& rule);
  void add_checks(const std::vector<nn::Check>& checks);

  /// Averages move only in steps where `applies` (bool[]) is true; empty: in all.
  void set_applies(Tensor applies) { applies_ = std::move(applies); }

  /// Takes the parameters that were read, and the next values of those that were assigned, with averages of
  /// these when `ema` is a decay.
  StepGraph finish(const Trace& trace, std::vector<nn::Check> checks, const TensorType& prediction,
                   double ema = 0);

 private:
  std::vector<Tensor> tables() const;
  data::Transforms::Source source();
  void add_average(const std::string& path, const Tensor& next, double decay);

  const DataSpec& data_;
  ir::Graph graph_;
  Tensor rows_, step_, seed_, numbers_, samples_, epoch_, applies_;
  data::Transforms::Source batch_;
  Tensor share_;
};

}  // namespace tightloop::train
