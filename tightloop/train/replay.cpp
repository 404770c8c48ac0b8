// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/gradients_at.h>
#include <tightloop/train/replay.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train {
namespace {

/// Ends the training when the step is done.
struct Done {};

double norm_of(const Array& a) {
  double squares = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) squares += a.at(i) * a.at(i);
  return std::sqrt(squares);
}

double distance_of(const Array& a, const Array& b) {
  double squares = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) squares += (a.at(i) - b.at(i)) * (a.at(i) - b.at(i));
  return std::sqrt(squares);
}

/// Stands at the end of a run's callbacks and between it and its observer, so that it is called in front of
/// the step wherever that lies: inside an epoch, at its start, or where the run was resumed.
class Replayer final : public Callback, public Observer {
 public:
  Replayer(const Model& model, const nn::LossFn& loss, const TrainingData& data, std::int64_t step,
           bool verify, Observer* next)
      : model_(model),
        loss_(loss),
        spec_(DataSpec::of(data.train.data, data.target, data.scales)),
        verify_(verify),
        next_(next) {
    result.step = step;
  }

  std::string_view name() const override { return "replay"; }
  std::int64_t pause_after(std::int64_t step) const override {
    return step < result.step ? result.step : std::numeric_limits<std::int64_t>::max();
  }
  void start(Run& run) override { run_ = &run; }
  void epoch_start(Run& run) override { at(run); }
  void step(Run& run) override {
    if (run.ended_inside_epoch()) at(run);
  }

  void resumed(const History& before, std::int64_t step) override {
    result.from = step;
    if (next_ != nullptr) next_->resumed(before, step);
    if (run_->ended_inside_epoch()) at(*run_);
  }
  void note(const std::string& text) override {
    if (next_ != nullptr) next_->note(text);
  }
  bool stop() override { return next_ != nullptr && next_->stop(); }

  ReplayedStep result;

 private:
  void at(Run& run) {
    if (run.step() != result.step) return;
    look(run);
    throw Done();
  }

  void look(Run& run) {
    Session& session = run.session();
    const Sampling& sampling = session.sampling();
    const std::vector<Array> before = session.copy();
    result.epoch = run.step() / session.steps_per_epoch() + 1;
    list_rows(session, sampling);
    measure_gradients(run);
    do_step(session, sampling, run.options().seed);
    result.loss = session.program().result("loss").at(0);
    const bool moves = session.bound().step().graph.output(kRate) != nullptr;
    result.lr = moves ? session.program().result(kRate).at(0) : run.base_lr();
    result.states = session.states();
    for (auto& [name, value] : result.states) value = value.clone();
    measure_updates(before);
    if (all_finite()) return;
    session.go_to(before, result.step);
    result.origin = first_non_finite(session.bound(), sampling, result.step, run.options().seed);
  }

  void list_rows(Session& session, const Sampling& sampling) {
    const auto batch = sampling.at(result.step);
    result.rows.resize(static_cast<std::size_t>(batch.size));
    sampling.fill(batch, result.rows.data());
    const DataPart& part = session.bound().part();
    if (part.is_stream())
      for (const std::int64_t r : result.rows) result.names.push_back(part.samples->name(r));
  }

  void measure_gradients(Run& run) {
    Session& session = run.session();
    GradientProbe probe(model_, loss_, spec_, session, run.options().compile, run.options().seed);
    double squares = 0;
    for (const auto& [path, gradient] : probe.at(result.step)) {
      const double length = norm_of(gradient);
      result.parameters.push_back(
          {path, gradient.count(), norm_of(session.program().state(path)), length, 0});
      squares += length * length;
    }
    result.gradient_norm = std::sqrt(squares);
  }

  void do_step(Session& session, const Sampling& sampling, std::uint64_t seed) {
    session.bound().reset();
    if (verify_)
      result.difference = verify_step(session.bound(), sampling, result.step, seed);
    else
      session.bound().run(sampling, result.step, 1);
    try {
      session.bound().check_data();
    } catch (const Error& e) {
      result.broken_rule = e.what();
    }
  }

  void measure_updates(const std::vector<Array>& before) {
    for (ParameterStep& p : result.parameters)
      for (std::size_t i = 0; i < result.states.size(); ++i)
        if (result.states[i].first == p.path) p.update = distance_of(result.states[i].second, before[i]);
  }

  bool all_finite() const {
    return std::isfinite(result.loss) &&
           std::all_of(result.parameters.begin(), result.parameters.end(), [](const ParameterStep& p) {
             return std::isfinite(p.norm) && std::isfinite(p.gradient) && std::isfinite(p.update);
           });
  }

  const Model& model_;
  const nn::LossFn& loss_;
  DataSpec spec_;
  bool verify_;
  Observer* next_;
  Run* run_ = nullptr;
};

}  // namespace

ReplayedStep replay(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                    const TrainingData& data, const TrainerOptions& given, const Metrics& metrics,
                    std::int64_t step, bool verify) {
  if (step < 0) throw Error(fmt::format("replay: steps count from 0; there is no step {}", step));
  const auto replayer = std::make_shared<Replayer>(model, loss, data, step, verify, given.observer);
  TrainerOptions options = given;
  replayer->result.checkpoint = options.resume;
  options.callbacks.push_back(replayer);
  options.observer = replayer.get();
  options.sanity_check = 0;
  try {
    const History history = Trainer(options, metrics).fit(model, loss, optimizer, data);
    throw Error(fmt::format("replay: there is no step {}: the run {} after {} steps, which count from 0",
                            step, history.stopped ? "was stopped" : "ends", history.steps));
  } catch (const Done&) {
    return std::move(replayer->result);
  }
}

}  // namespace tightloop::train
