// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/check_run.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/fit_whole.h>
#include <tightloop/train/job_run.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// What lbfgs, which has no update in the step, cannot do.
void check_whole(const TrainerOptions& o) {
  const auto refuse = [](bool given, const char* what) {
    if (given) throw Error(fmt::format("optimizer lbfgs: takes no {}", what));
  };
  refuse(o.update.schedule != nullptr, "schedule");
  refuse(o.update.gradients.clip_norm > 0 || o.update.gradients.clip_value > 0 ||
             o.update.gradients.noise > 0 || o.update.gradients.centralize,
         "clipping");
  refuse(o.update.accumulate > 1, "accumulation: an update sees all rows anyway");
  refuse(o.update.loss_scale.active(), "loss scale: it skips no update");
  refuse(o.update.ema > 0, "averages of the weights");
  refuse(!o.unfreeze.empty(), "unfreezing");
  refuse(!o.callbacks.empty(), "callbacks");
  refuse(!o.resume.empty(), "checkpoint to go on from");
}

void check_schedule(const TrainerOptions& o, const optim::Optimizer& rule, const RunFacts& facts) {
  if (o.update.schedule == nullptr) return;
  if (o.update.schedule->needs_momentum() && !rule.momentum())
    throw Error(
        "schedule one_cycle: cycle_momentum moves momentum or beta1, and this optimizer has none that moves; "
        "take sgd with a momentum, adam or adamw, or leave it out");
  if (o.update.schedule->plateau() != nullptr)
    placed(o.schedule_where, [&] { facts.check_metric("schedule reduce_on_plateau", o.plateau_metric); });
}

void check_groups(const Model& model, const optim::Optimizer& rule) {
  std::vector<std::string> paths;
  for (const auto& p : model.module->parameters()) paths.push_back(p.path);
  optim::check_patterns(rule.groups(), paths);
}

/// Each stage is to come, and the first trains something.
void check_stages(const Model& model, const TrainerOptions& o) {
  Stages stages(o.unfreeze, model.module);
  for (const Thaw& thaw : o.unfreeze)
    if (thaw.at > o.epochs)
      throw Error(fmt::format("{}: joins in epoch {}, but the run has {}",
                              thaw.where.empty() ? "unfreeze" : thaw.where, thaw.at, o.epochs));
  if (o.unfreeze.empty()) return;
  stages.set(1);
  const auto parameters = model.module->parameters();
  if (std::all_of(parameters.begin(), parameters.end(), [](auto& p) { return p.parameter->frozen(); }))
    throw Error(fmt::format(
        "{}: leaves nothing to train in the first epoch: every parameter is frozen; match fewer, or "
        "write at = 1 for some",
        o.unfreeze[0].where.empty() ? "unfreeze" : o.unfreeze[0].where));
}

/// Names tell apart what callbacks keep in a checkpoint.
void check_names(const TrainerOptions& o) {
  for (std::size_t i = 0; i < o.callbacks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (o.callbacks[i]->name() == o.callbacks[j]->name() && !o.callbacks[i]->save().empty())
        throw Error(
            fmt::format("callbacks: there are two of '{}'; a run takes one of each", o.callbacks[i]->name()));
}

std::int64_t epochs_of(const TrainerOptions& options, const TrainingData& data) {
  const RunLength length = run_length(data.train, options.session());
  return length.run / length.epoch + (length.run % length.epoch != 0);
}

}  // namespace

RunFacts facts_of(const TrainerOptions& options, const optim::Optimizer& optimizer,
                  const TrainingData& data) {
  RunFacts out{data.validation.has_value(), options.metrics, {}, epochs_of(options, data), &optimizer};
  for (const auto& callback : options.callbacks)
    for (auto& name : callback->measures()) out.measures.push_back(std::move(name));
  return out;
}

void check_run(const Model& model, const optim::Optimizer& optimizer, const TrainingData& given,
               const TrainerOptions& options) {
  const TrainingData data = seen_by(options, given);
  if (dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr)
    return check_whole(options), check_whole(data);
  const RunFacts facts = facts_of(options, optimizer, data);
  const UpdateOptions update = options.session().update;
  check(update);
  if (update.ema > 0 && update.averaging.start > 0)
    throw Error("ema and swa both average the weights; take one of them");
  check_names(options);
  for (const auto& callback : options.callbacks) placed(callback->where, [&] { callback->check(facts); });
  check_schedule(options, optimizer, facts);
  if (model.module == nullptr) return;
  check_groups(model, optimizer);
  check_stages(model, options);
}

void check_run(const PreparedJob& prepared) {
  check_run(prepared.model->model(), *prepared.optimizer, prepared.data.data, prepared.options);
}

}  // namespace tightloop::train
