// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/state_dict.h>
#include <tightloop/train/fingerprint.h>
#include <tightloop/train/history_table.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace tightloop::train {
namespace {

constexpr const char* kHistory = "@history";
constexpr const char* kNumbers = "@run";
constexpr const char* kCallback = "@callback.";
// In the metadata.
constexpr const char* kColumns = "history";
constexpr const char* kData = "data";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What decides which rows a step sees; a resumed run must have the same.
std::string walk_text(const TrainerOptions& o, std::int64_t rows) {
  const std::string limit = std::visit(
      [](const auto& given) {
        if constexpr (std::is_same_v<std::decay_t<decltype(given)>, std::monostate>)
          return std::string();
        else
          return fmt::format(", limit_batches {}", given);
      },
      o.limit_batches.given());
  return fmt::format("{} rows, batch {}, shuffle {}, drop_last {}, seed {}{}", rows, o.batch,
                     o.shuffle && o.overfit_batches == 0, o.drop_last, o.seed, limit);
}

/// States that a job may ask for in the middle of a run.
bool may_be_missing(const std::string& state) {
  return state == kRateScale || state.starts_with(kAverage) || state.starts_with(kEpochSum) ||
         state.starts_with(kSpike) || state.starts_with(kScaler);
}

}  // namespace

Run::Run(const Model& model, const TrainerOptions& options, Session& session, double base_lr, RunFacts facts,
         const TrainingData& data)
    : model_(model),
      options_(options),
      session_(&session),
      base_lr_(base_lr),
      facts_(std::move(facts)),
      data_(data),
      lr_(base_lr),
      started_(now()) {}

double Run::seconds() const { return seconds_before_ + now() - started_; }

void Run::stop(std::string reason) {
  if (!stopping_) history_.reason = std::move(reason);
  stopping_ = true;
}

void Run::note(const std::string& text) const {
  if (options_.observer != nullptr) options_.observer->note(text);
}

std::optional<double> Run::value_of(const EpochRecord& record, const std::string& name) const {
  if (name == "train_loss") return record.train_loss;
  for (const auto& [extra, value] : record.extra)
    if (extra == name) return value;
  if (std::find(facts_.measures.begin(), facts_.measures.end(), name) != facts_.measures.end()) return {};
  if (!record.validation) return {};
  if (name == "validation_loss") return record.validation->loss;
  const auto found = std::find(options_.metrics.begin(), options_.metrics.end(), name);
  require(found != options_.metrics.end(), "Run::value_of: unknown metric");
  return record.validation->metrics[static_cast<std::size_t>(found - options_.metrics.begin())];
}

double Run::lr() {
  if (session_->bound().step().graph.output(kRate) != nullptr && session_->has_run())
    lr_ = session_->program().result(kRate).at(0);
  return lr_;
}

void Run::scale_rate(const std::string& who, double scale) {
  const auto own =
      std::find_if(scales_.begin(), scales_.end(), [&](const auto& s) { return s.first == who; });
  if (own == scales_.end())
    scales_.emplace_back(who, scale);
  else
    own->second = scale;
  double product = 1;
  for (const auto& [name, value] : scales_) product *= value;
  session_->program().state(kRateScale).set(0, product);
}

void Run::set_session(Session& session) {
  session_ = &session;
  weight_paths_.clear();
  ++shown_;
}

void Run::show(std::function<std::optional<Array>(const std::string& path)> weights) {
  shown_weights_ = std::move(weights);
  ++shown_;
}

Array Run::evaluated(const std::string& path) {
  if (shown_weights_)
    if (auto found = shown_weights_(path)) return *found;
  const std::string average = std::string(kAverage) + path;
  if (session_->update().evaluate_average && session_->has_state(average))
    return session_->program().state(average);
  return session_->has_state(path) ? session_->program().state(path)
                                   : model_.module->state(path).variable().shared();
}

std::vector<std::pair<std::string, Array>> Run::changing() {
  std::vector<std::pair<std::string, Array>> out;
  for (const auto& path : session_->bound().step().parameters)
    if (session_->bound().step().graph.output(path) != nullptr)
      out.emplace_back(path, session_->program().state(path));
  for (const auto& path : later_)
    if (session_->bound().step().graph.output(path) == nullptr)
      out.emplace_back(path, model_.module->state(path).variable().exclusive());
  return out;
}

namespace {

bool alike(const Array& a, const Array& b) { return a.dtype() == b.dtype() && a.dims() == b.dims(); }

/// Fills a checkpoint with copies, into arrays of another one that are at the same place.
class Copies {
 public:
  explicit Copies(Checkpoint spare) : spare_(std::move(spare.tensors)) {}
  void add(std::string name, const Array& value) {
    Array own;
    if (out_.size() < spare_.size() && alike(spare_[out_.size()].second, value))
      own = std::move(spare_[out_.size()].second);
    else
      return out_.emplace_back(std::move(name), value.clone()), void();
    std::memcpy(own.bytes(), value.bytes(), value.size_bytes());
    out_.emplace_back(std::move(name), std::move(own));
  }
  std::vector<std::pair<std::string, Array>> take() { return std::move(out_); }

 private:
  std::vector<std::pair<std::string, Array>> spare_, out_;
};

}  // namespace

void Run::describe_weights() {
  if (!weight_paths_.empty()) return;
  untouched_.clear();
  for (const auto& s : model_.module->states()) {
    weight_paths_ += s.path + "\n";
    if (!session_->has_state(s.path)) untouched_.push_back(s.path);
  }
}

Checkpoint Run::states_only(Checkpoint spare) {
  if (fingerprint_.empty()) fingerprint_ = fingerprint(data_);
  describe_weights();
  Checkpoint out{step(),
                 {},
                 {{"walk", walk_text(options_, data_.train.count())},
                  {"weights", weight_paths_},
                  {kData, fingerprint_}}};
  Copies copies(std::move(spare));
  for (const auto& [name, state] : session_->states()) copies.add(name, state);
  for (const auto& path : untouched_) copies.add(path, model_.module->state(path).variable().shared());
  copies.add(kNumbers, Array::of<double>({2}, {seconds(), lr()}));
  for (const auto& callback : options_.callbacks)
    for (const auto& [name, value] : callback->save())
      copies.add(fmt::format("{}{}.{}", kCallback, callback->name(), name), value);
  out.tensors = copies.take();
  return out;
}

void Run::add_history(Checkpoint& checkpoint, std::size_t epochs) {
  checkpoint.tensors.emplace_back(kHistory, history_rows_.table(history_.epochs, epochs, options_.metrics));
  checkpoint.metadata[kColumns] = history_rows_.columns();
}

Checkpoint Run::checkpoint(Checkpoint spare) {
  Checkpoint out = states_only(std::move(spare));
  add_history(out, history_.epochs.size());
  return out;
}

namespace {

/// The states that the step and the model have, out of the checkpoint.
void check_fit(const std::vector<std::pair<std::string, Array>>& states, const Checkpoint& checkpoint,
               const std::string& name) {
  std::vector<io::Slot> slots;
  for (const auto& [state, array] : states)
    if (checkpoint.find(state) != nullptr || !may_be_missing(state))
      slots.push_back({state, array.dtype(), array.dims()});
  io::LoadReport report = io::load_report({checkpoint.tensors, {}}, slots);
  report.unexpected.clear();
  report.rounded.clear();
  for (const auto& [state, array] : states) {
    const Array* found = checkpoint.find(state);
    if (found != nullptr && found->dims() == array.dims() && found->dtype() != array.dtype())
      report.mis_typed.push_back(state);
  }
  if (!report.fits())
    throw Error(fmt::format("{}: does not fit this model and optimizer:\n{}", name, report.text()));
}

Saved saved_of(const Checkpoint& checkpoint, std::string_view callback) {
  const std::string prefix = fmt::format("{}{}.", kCallback, callback);
  Saved out;
  for (const auto& [name, array] : checkpoint.tensors)
    if (name.starts_with(prefix)) out.emplace(name.substr(prefix.size()), array);
  return out;
}

}  // namespace

void Run::check_data(const Checkpoint& checkpoint, const std::string& name) {
  fingerprint_ = fingerprint(data_);
  const auto before = checkpoint.metadata.find(kData);
  if (before == checkpoint.metadata.end()) return;
  const std::string difference = fingerprint_difference(before->second, fingerprint_);
  if (!difference.empty())
    throw Error(
        fmt::format("{}: the data is not what the run began with: {}; bring it back, or start anew in "
                    "another folder (model.weights takes the weights of a checkpoint)",
                    name, difference));
}

void Run::resume(const Checkpoint& checkpoint, const std::string& name) {
  const auto walk = checkpoint.metadata.find("walk");
  const std::string own = walk_text(options_, data_.train.count());
  if (walk != checkpoint.metadata.end() && walk->second != own)
    throw Error(fmt::format("{}: belongs to a run over other data or in another order ({}, now {})", name,
                            walk->second, own));
  check_data(checkpoint, name);
  const auto states = session_->states();
  check_fit(states, checkpoint, name);
  const Array *history = checkpoint.find(kHistory), *numbers = checkpoint.find(kNumbers);
  const auto columns = checkpoint.metadata.find(kColumns);
  if (history == nullptr || columns == checkpoint.metadata.end() || numbers == nullptr ||
      numbers->count() != 2)
    throw Error(name + ": is no checkpoint of a run that this version can go on with");
  auto epochs = read_history(*history, columns->second, options_.metrics, name);
  for (const auto& [state, array] : states) {
    Array view = array;
    if (const Array* found = checkpoint.find(state))
      std::memcpy(view.bytes(), found->bytes(), view.size_bytes());
  }
  for (const auto& [state, array] : states)
    if (state.starts_with(kAverage) && checkpoint.find(state) == nullptr)
      session_->program().set_state(state, session_->program().state(state.substr(kAverage.size())));
  for (const auto& s : model_.module->states())
    if (const Array* found = checkpoint.find(s.path); found != nullptr && !session_->has_state(s.path))
      s.assign(*found);
  session_->go_on_at(checkpoint.step);
  history_.epochs = std::move(epochs);
  history_rows_.clear();
  seconds_before_ = numbers->at(0);
  lr_ = numbers->at(1);
  for (const auto& callback : options_.callbacks)
    if (const Saved saved = saved_of(checkpoint, callback->name()); !saved.empty())
      callback->load(*this, saved);
}

}  // namespace tightloop::train
