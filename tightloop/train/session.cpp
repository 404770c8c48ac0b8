// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/diagnose.h>
#include <tightloop/train/session.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <limits>

namespace tightloop::train {
namespace {

void check_epoch(const DataPart& part, const SessionOptions& options) {
  if (options.batch < 1)
    throw Error(fmt::format("the batch must have at least 1 row, not {}", options.batch));
  if (options.drop_last && part.count() < options.batch)
    throw Error(fmt::format(
        "an epoch would have no step: there are {} training rows, fewer than a batch of {}, and the "
        "short last batch is dropped; take a smaller batch or drop_last = false",
        part.count(), options.batch));
}

/// True when no element is NaN or infinite; x · 0 is 0 for the others.
template <class T>
bool finite(std::span<const T> values) {
  T sum = 0;
  for (const T v : values) sum += v * 0;
  return sum == 0;
}

bool finite(const Array& a) {
  return a.dtype() == DType::f32 ? finite(a.as<float>()) : a.dtype() != DType::f64 || finite(a.as<double>());
}

/// A rate is to blame only for what training made.
const char* advice(const Origin& cause, std::int64_t step) {
  if (cause.kind == Origin::Kind::data) return "; mend or leave out such rows";
  if (cause.kind == Origin::Kind::state && step == 0) return ", before any training; check the start weights";
  return "; a smaller learning rate or normalized inputs may help";
}

std::string scale_text(const optim::LossScale& scale, std::int64_t step, std::int64_t origin,
                       const Origin& cause) {
  const std::string found = cause.kind == Origin::Kind::none
                                ? ""
                                : fmt::format("; it began in step {} with {}", origin, cause.text);
  const char* advice = ": compute that part in f32, or take a smaller learning rate";
  if (scale.kind == optim::LossScale::Kind::fixed)
    return fmt::format(
        "step {}: {} updates in a row had gradients that are not finite at the fixed loss scale {}{}{}, a "
        "smaller loss_scale, or \"dynamic\"",
        step, optim::kMostSkipped, scale.init, found, advice);
  return fmt::format(
      "step {}: a gradient is not finite although the loss scale has fallen to its minimum {}{}{}", step,
      scale.minimum, found, advice);
}

}  // namespace

void check_batches(const StepGraph& step, const Sampling& sampling) {
  const std::int64_t full = std::min(sampling.batch, sampling.count());
  const std::int64_t rest = sampling.drop_last ? 0 : sampling.count() % sampling.batch;
  for (const nn::Check& check : step.checks) {
    const std::int64_t fewest = rest > 0 ? rest : full;
    if (fewest >= check.least_rows) continue;
    const bool last = rest > 0 && rest != sampling.rows;
    throw Error(fmt::format(
        "{}; {}", check.text(0, 0),
        last ? fmt::format(
                   "the last batch of an epoch has {} of the {} rows: take another batch size than {}, or "
                   "drop_last = true",
                   rest, sampling.rows, sampling.batch)
             : fmt::format("the batch has {}: take a larger one", fewest)));
  }
}

RunLength run_length(const DataPart& part, const SessionOptions& options) {
  check_epoch(part, options);
  Sampling s{.rows = part.count(), .batch = options.batch, .drop_last = options.drop_last};
  RunLength out{options.limit_batches.of(s.steps_per_epoch(), "limit_batches"), 0};
  if (__builtin_mul_overflow(options.epochs, out.epoch, &out.run))
    out.run = std::numeric_limits<std::int64_t>::max();
  if (options.max_steps > 0) out.run = std::min(out.run, options.max_steps);
  return out;
}

Session::Session(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                 const DataSpec& data, const DataPart& part, const SessionOptions& options)
    : model_(model),
      update_(options.update),
      length_(run_length(part, options)),
      data_(walked(data, part, options.shuffle)),
      bound_(training_step(model, loss, optimizer, data_, options.update, length_), part, options.compile,
             begin_loading(
                 part, sampling_of(part, options.batch, options.shuffle, options.drop_last, options.seed))),
      sampling_(bound_.sampling(options.batch, options.shuffle, options.drop_last, options.seed)),
      seed_(options.seed) {
  check_batches(bound_.step(), sampling_);
  program().set_seed(seed_);
  bind_parameters();
  bound_.reserve(sampling_);
  start_states();
  for (const auto& name : program().state_names()) {
    names_.push_back(name);
    states_.push_back(program().state(name));
    kept_.push_back(states_.back().clone());
  }
  for (const auto& name : bound_.step().parameters)
    if (bound_.step().graph.output(name) != nullptr) parameters_.push_back(program().state(name));
  bound_.reset();
}

/// Training changes the model's own memory.
void Session::bind_parameters() {
  const auto names = program().state_names();
  for (const auto& s : model_.module->states()) {
    if (std::find(names.begin(), names.end(), s.path) == names.end()) continue;
    const bool changes = bound_.step().graph.output(s.path) != nullptr;
    program().bind(s.path, changes ? s.variable().exclusive() : s.variable().shared());
  }
}

/// States that do not begin at zero.
void Session::start_states() {
  for (const auto& name : program().state_names()) {
    if (name == kRateScale) program().set_state(name, Array::scalar<double>(1));
    if (name == kLossScale) program().set_state(name, Array::scalar(update_.loss_scale.init));
    if (name == kScalerLeft)
      program().set_state(name, Array::scalar(optim::hysteresis_of(update_.loss_scale)));
    if (name == kSpikeStep || name == kScaleLostStep)
      program().set_state(name, Array::scalar<std::int64_t>(-1));
    if (name.starts_with(kAverage)) program().set_state(name, program().state(name.substr(kAverage.size())));
  }
}

std::vector<std::pair<std::string, Array>> Session::states() {
  std::vector<std::pair<std::string, Array>> out;
  for (std::size_t i = 0; i < names_.size(); ++i) out.emplace_back(names_[i], states_[i]);
  return out;
}

bool Session::has_state(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::vector<Array> Session::copy() const {
  std::vector<Array> out;
  for (const Array& state : states_) out.push_back(state.clone());
  return out;
}

void Session::copy_to(std::vector<Array>& copies) const {
  copies.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (copies[i].dtype() == states_[i].dtype() && copies[i].dims() == states_[i].dims())
      std::memcpy(copies[i].bytes(), states_[i].bytes(), states_[i].size_bytes());
    else
      copies[i] = states_[i].clone();
  }
}

void Session::go_to(const std::vector<Array>& states, std::int64_t step) {
  require(states.size() == states_.size(), "Session::go_to: other states");
  for (std::size_t i = 0; i < states_.size(); ++i)
    std::memcpy(states_[i].bytes(), states[i].bytes(), states_[i].size_bytes());
  step_ = step;
}

void Session::take(const std::vector<std::pair<std::string, Array>>& states, std::int64_t step) {
  for (const auto& [name, value] : states)
    if (has_state(name)) program().set_state(name, value);
  step_ = step;
}

void Session::go_on_at(std::int64_t step) { step_ = step; }

void Session::keep() {
  kept_step_ = step_;
  for (std::size_t i = 0; i < states_.size(); ++i)
    std::memcpy(kept_[i].bytes(), states_[i].bytes(), states_[i].size_bytes());
}

void Session::go_back() {
  step_ = kept_step_;
  for (std::size_t i = 0; i < states_.size(); ++i)
    std::memcpy(states_[i].bytes(), kept_[i].bytes(), states_[i].size_bytes());
}

bool Session::parameters_finite() const {
  return std::all_of(parameters_.begin(), parameters_.end(), [](const Array& a) { return finite(a); });
}

void Session::run(std::int64_t steps) {
  keep();
  bound_.run(sampling_, step_, steps);
  ran_ = true;
  step_ += steps;
  bound_.check_data();
  check_spike();
  check_scale();
  if (bound_.bad_step() >= 0 || !parameters_finite()) explain(step_);
}

/// A spike leaves the states as they were before its step.
void Session::check_spike() {
  if (update_.spike.factor == 0) return;
  const std::int64_t spike = program().state(kSpikeStep).int_at(0), bad = bound_.bad_step();
  if (spike < 0 || (bad >= 0 && bad < spike)) return;
  go_back();
  bound_.run(sampling_, step_, spike - step_);
  step_ = spike;
  throw NonFinite(
      fmt::format("step {}: the loss jumped to more than {:.6g} times its running average of {:.6g}", spike,
                  1 + update_.spike.factor, program().state(kSpikeMean).at(0)),
      spike);
}

/// A scale that cannot fall any more leaves the states as they were before the first step of the update.
void Session::check_scale() {
  if (!update_.loss_scale.active()) return;
  const std::int64_t lost = program().state(kScaleLostStep).int_at(0), bad = bound_.bad_step();
  if (lost < 0 || (bad >= 0 && bad <= lost)) return;
  go_back();
  bound_.run(sampling_, step_, std::max(step_, first_of_update(lost)) - step_);
  step_ = std::max(step_, first_of_update(lost));
  Origin cause = first_non_finite(bound_, sampling_, step_, seed_);
  while (cause.kind != Origin::Kind::operation && step_ < lost) {
    bound_.run(sampling_, step_++, 1);
    cause = first_non_finite(bound_, sampling_, step_, seed_);
  }
  throw NonFinite(scale_text(update_.loss_scale, lost, step_, cause), lost);
}

/// The first step of the update that step `last` makes.
std::int64_t Session::first_of_update(std::int64_t last) const {
  return last - last % length_.epoch % update_.accumulate;
}

void Session::run_verified() {
  keep();
  const auto difference = verify_step(bound_, sampling_, step_, seed_);
  ++step_;
  ran_ = true;
  bound_.check_data();
  check_scale();
  if (bound_.bad_step() >= 0 || !parameters_finite()) {
    go_back();
    const bool interpreter_too = first_non_finite(bound_, sampling_, step_, seed_).kind != Origin::Kind::none;
    bound_.run(sampling_, step_++, 1);
    if (interpreter_too || !difference) explain(step_);
  }
  if (!difference) return;
  throw Error(fmt::format("verify: step {}: '{}' differs at element {}: compiled {}, interpreted {}",
                          kept_step_, difference->tensor, difference->element,
                          value_text(difference->compiled), value_text(difference->interpreted)));
}

/// The first step before `last` whose update made a parameter not finite, or `last`.
std::int64_t Session::first_bad_update(std::int64_t last) {
  go_back();
  for (; step_ < last; ++step_) {
    bound_.run(sampling_, step_, 1);
    if (!parameters_finite()) return step_;
  }
  return last;
}

void Session::explain(std::int64_t end) {
  const std::int64_t bad = bound_.bad_step();
  const std::int64_t origin = first_bad_update(bad >= 0 ? bad : end);
  go_back();
  bound_.run(sampling_, step_, origin - step_);
  step_ = origin;
  const Origin cause = first_non_finite(bound_, sampling_, origin, seed_);
  const bool none = cause.kind == Origin::Kind::none;
  throw NonFinite(fmt::format("step {}: {} not finite{}{}", bad >= 0 ? bad : origin,
                              bad >= 0 ? "the loss is" : "the update made a parameter",
                              none ? "" : fmt::format("; it began in step {} with {}", origin, cause.text),
                              advice(cause, origin)),
                  bad >= 0 ? bad : origin);
}

}  // namespace tightloop::train
