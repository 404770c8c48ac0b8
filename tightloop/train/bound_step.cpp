// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/bound_step.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

std::string check_state(std::size_t index, const char* what) {
  return fmt::format("check.{}.{}", index, what);
}

}  // namespace

BoundStep::BoundStep(StepGraph step, const DataPart& part, const CompileOptions& options)
    : step_(std::move(step)), part_(part), program_(Program::compile(step_.graph, options)) {
  for (const Tensor& t : program_.graph().inputs) {
    if (ir::input_role(t.node()) != "data") continue;
    const std::string name = ir::input_name(t.node());
    program_.bind(name, part_.data[name.substr(data_name("").size())]);
  }
}

Sampling BoundStep::sampling(std::int64_t batch, bool shuffle, bool drop_last, std::uint64_t seed) const {
  Sampling s{.rows = part_.count(), .batch = batch, .shuffle = shuffle, .drop_last = drop_last, .seed = seed};
  s.subset = part_.rows.empty() ? nullptr : part_.rows.data();
  s.data_rows = part_.data.rows();
  return s;
}

void BoundStep::reset() {
  for (const std::string& name : program_.state_names()) {
    Array state = program_.state(name);
    if (name == kLossSum || name == kWeightSum || name.starts_with("metric."))
      for (std::int64_t i = 0; i < state.count(); ++i) state.set(i, 0);
    if (name == kBadStep || (name.starts_with("check.") && name.ends_with(".row"))) state.set_int(0, -1);
  }
}

double BoundStep::mean_loss() { return program_.state(kLossSum).at(0) / program_.state(kWeightSum).at(0); }

std::int64_t BoundStep::bad_step() { return program_.state(kBadStep).int_at(0); }

void BoundStep::check_data() {
  for (std::size_t i = 0; i < step_.checks.size(); ++i) {
    const std::int64_t row = program_.state(check_state(i, "row")).int_at(0);
    if (row < 0) continue;
    throw Error(step_.checks[i].text(row, program_.state(check_state(i, "value")).at(0)) +
                " (rows count from 0)");
  }
}

}  // namespace tightloop::train
