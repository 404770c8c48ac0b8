// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/gradients_at.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train {
namespace {

/// Half of the least f16 number above 0: up to here 0 is as near, and even.
constexpr double kGone = 0x1p-25;
constexpr double kWorthAWord = 0.01;

}  // namespace

GradientProbe::GradientProbe(const Model& model, const nn::LossFn& loss, const DataSpec& spec,
                             Session& session, const CompileOptions& options, std::uint64_t seed)
    : session_(session),
      bound_(gradient_step(model, loss, walked(spec, session.bound().part(), session.sampling().shuffle)),
             session.bound().part(), options) {
  bound_.program().set_seed(seed);
  bound_.reserve(session.sampling());
}

std::vector<std::pair<std::string, Array>> GradientProbe::at(std::int64_t step) {
  Program& program = bound_.program();
  for (const auto& name : program.state_names())
    if (session_.has_state(name)) program.set_state(name, session_.program().state(name));
  bound_.reset();
  bound_.run(session_.sampling(), step, 1);
  std::vector<std::pair<std::string, Array>> out;
  for (const auto& output : bound_.step().graph.outputs)
    if (output.name.starts_with(kGradientSum))
      out.emplace_back(output.name.substr(std::string_view(kGradientSum).size()),
                       program.result(output.name));
  return out;
}

void Underflow::add(const Array& gradient) {
  for (std::int64_t i = 0; i < gradient.count(); ++i) {
    const double size = std::abs(gradient.at(i));
    elements += size > 0 ? 1 : 0;
    lost += size > 0 && size <= kGone ? 1 : 0;
  }
}

std::string Underflow::warning() const {
  if (share() <= kWorthAWord) return "";
  return fmt::format(
      "{:.0f} % of the gradients' elements are below what f16 can hold and would become 0: scale the loss "
      "(train.loss_scale = \"dynamic\")",
      100 * share());
}

Underflow measure_underflow(GradientProbe& probe, const Session& session, std::int64_t steps) {
  Underflow out;
  const std::int64_t last = std::min(session.steps(), session.step() + steps);
  for (std::int64_t step = session.step(); step < last; ++step)
    for (const auto& [path, gradient] : probe.at(step)) out.add(gradient);
  return out;
}

}  // namespace tightloop::train
