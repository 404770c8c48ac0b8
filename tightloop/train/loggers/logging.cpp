// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/first_samples.h>
#include <tightloop/train/loggers/logging.h>
#include <tightloop/train/loggers/model_parts.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// What a step computes as one number and keeps for nobody: the loss first.
std::vector<std::string> recordable(Session& session) {
  std::vector<std::string> out;
  for (const auto& o : session.program().graph().outputs)
    if (o.value.rank() == 0 && is_compute_float(o.value.dtype()) && !session.has_state(o.name))
      out.push_back(o.name);
  return out;
}

Options plain_hyperparameters(const TrainerOptions& o, double lr) {
  return {{"epochs", o.epochs},
          {"batch", o.batch},
          {"shuffle", o.shuffle},
          {"seed", static_cast<std::int64_t>(o.seed)},
          {"lr", lr}};
}

}  // namespace

RecordedSteps recorded_steps(std::int64_t log_every) {
  if (log_every == kLogAutomatically) return {.every = 50, .doubles_after = 50000};
  return {.every = log_every};
}

Logging::Logging(const TrainerOptions& options, const TrainingData& data, const Model& model, Run& run)
    : options_(options), data_(data), model_(model), run_(run) {}

Logging::~Logging() {
  if (hub_ != nullptr && !ended_) hub_->end(run_.history());
}

void Logging::start() {
  if (options_.loggers.empty()) return;
  Session& session = run_.session();
  std::vector<double> constant;
  if (options_.log_every != 0) {
    recorder_ = std::make_shared<Recorder>(recordable(session), recorded_steps(options_.log_every));
    const auto& names = recorder_->names();
    rate_moves_ = std::find(names.begin(), names.end(), kRate) != names.end();
    if (!rate_moves_) constant.push_back(run_.base_lr());
    session.program().record(recorder_);
  }
  first_step_ = run_.step();
  before_ = run_.history().epochs;
  hub_ = std::make_unique<LogHub>(options_.loggers, recorder_, std::move(constant));
}

RunInfo Logging::info() const {
  RunInfo out;
  if (recorder_ != nullptr) out.values = recorder_->names();
  if (recorder_ != nullptr && !rate_moves_) out.values.emplace_back(kRate);
  if (recorder_ != nullptr)
    out.step_dtype = run_.session().program().graph().output(recorder_->names()[0])->value.dtype();
  out.metrics = options_.metrics;
  out.epochs = options_.epochs;
  out.steps = run_.session().steps();
  out.steps_per_epoch = run_.session().steps_per_epoch();
  out.resumed_at = first_step_;
  out.before = before_;
  out.description = options_.description;
  if (out.description.hyperparameters.empty())
    out.description.hyperparameters = plain_hyperparameters(options_, run_.base_lr());
  const LoggerWants wants = hub_->wants();
  if (wants.model) out.model = model_parts(run_.session().bound().step().graph, *model_.module);
  if (wants.samples > 0) out.samples = first_samples(data_, wants.samples);
  return out;
}

void Logging::begin() {
  if (hub_->started()) return;
  hub_->start(info());
}

void Logging::step() {
  if (hub_ == nullptr) return;
  begin();
  pass_notes();
}

void Logging::session_changed() {
  if (recorder_ != nullptr) run_.session().program().record(recorder_);
}

void Logging::went_back() {
  if (recorder_ != nullptr) recorder_->go_back(run_.step());
}

/// Ten times a second, and at the end: epochs of a small net take less than a millisecond.
bool Logging::weights_due() {
  const auto now = std::chrono::steady_clock::now();
  const bool last = run_.stopping() || run_.step() >= run_.session().steps();
  if (!last && now - weights_at_ < std::chrono::milliseconds(100)) return false;
  weights_at_ = now;
  return true;
}

Weights Logging::weights() {
  Weights out;
  if (!hub_->wants().weights || !weights_due()) return out;
  std::size_t bytes = 0;
  const auto states = model_.module->states();
  for (const auto& s : states) bytes += s.bytes();
  if (!hub_->takes_weights(bytes)) return out;
  for (const auto& s : states)
    if (is_floating(s.type().dtype)) out.emplace_back(s.path, run_.evaluated(s.path).clone());
  return out;
}

void Logging::epoch(const EpochRecord& record) {
  if (hub_ == nullptr) return;
  begin();
  hub_->epoch(record, weights());
}

void Logging::pass_notes() {
  for (const std::string& note : hub_->notes()) run_.note(note);
}

void Logging::note_thinned() const {
  if (hub_->thinned() == 0) return;
  std::vector<std::string> few, all;
  for (const auto& logger : options_.loggers) (logger->wants().thinned ? few : all).push_back(logger->name());
  std::erase(all, "csv");
  run_.note(fmt::format(
      "steps came faster than anybody reads lines: {} got the lowest, the highest and the last "
      "values of short stretches, {}",
      fmt::join(few, " and "),
      all.empty() ? "and no logger got all steps" : fmt::format("{} all steps", fmt::join(all, " and "))));
}

void Logging::end() {
  if (hub_ == nullptr) return;
  ended_ = true;
  begin();
  hub_->end(run_.history());
  pass_notes();
  if (recorder_ == nullptr) return;
  run_.session().program().record(nullptr);
  if (recorder_->left_out() > 0)
    run_.note(fmt::format(
        "{} of the steps to be logged came faster than the loggers could write and were left out; "
        "a greater log_every keeps all",
        recorder_->left_out()));
  note_thinned();
}

}  // namespace tightloop::train
