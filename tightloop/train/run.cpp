// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/state_dict.h>
#include <tightloop/nn/metrics/metric.h>
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
constexpr std::int64_t kOwnColumns = 7;  // of the history's table, before the metrics

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

bool may_be_missing(const std::string& state) { return state == kRateScale || state.starts_with(kAverage); }

/// "top_k_2" is the second metric called top_k.
const nn::MetricDef* metric_of(const std::string& column) {
  if (const auto* def = nn::find_metric(column)) return def;
  return nn::find_metric(column.substr(0, column.find_last_of('_')));
}

}  // namespace

Run::Run(const Model& model, const TrainerOptions& options, Session& session, double base_lr, bool validates,
         std::int64_t rows)
    : model_(model),
      options_(options),
      session_(session),
      base_lr_(base_lr),
      validates_(validates),
      rows_(rows),
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

std::vector<std::string> Run::metric_columns() const {
  std::vector<std::string> out{"train_loss"};
  if (!validates_) return out;
  out.emplace_back("validation_loss");
  out.insert(out.end(), options_.metrics.begin(), options_.metrics.end());
  return out;
}

void Run::check_metric(const std::string& who, const std::string& name) const {
  const auto known = metric_columns();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(fmt::format("{}: there is no metric '{}' to watch{}; there are {}{}", who, name,
                            suggestion(name, known), fmt::join(known, ", "),
                            validates_ ? "" : " (there are no validation rows)"));
}

optim::Direction Run::direction_of(const std::string& name) const {
  const auto* def = name.ends_with("_loss") ? nullptr : metric_of(name);
  return def != nullptr && def->greater_is_better ? optim::Direction::max : optim::Direction::min;
}

std::optional<double> Run::value_of(const EpochRecord& record, const std::string& name) const {
  if (name == "train_loss") return record.train_loss;
  if (!record.validation) return {};
  if (name == "validation_loss") return record.validation->loss;
  const auto found = std::find(options_.metrics.begin(), options_.metrics.end(), name);
  require(found != options_.metrics.end(), "Run::value_of: unknown metric");
  return record.validation->metrics[static_cast<std::size_t>(found - options_.metrics.begin())];
}

double Run::lr() {
  if (session_.bound().step().graph.output(kRate) != nullptr && session_.has_run())
    lr_ = session_.program().result(kRate).at(0);
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
  session_.program().state(kRateScale).set(0, product);
}

Array Run::evaluated(const std::string& path) {
  const std::string average = std::string(kAverage) + path;
  if (session_.update().evaluate_average && session_.has_state(average))
    return session_.program().state(average);
  return session_.has_state(path) ? session_.program().state(path) : model_.module->state(path).array();
}

std::vector<std::pair<std::string, Array>> Run::changing() {
  std::vector<std::pair<std::string, Array>> out;
  for (const auto& path : session_.bound().step().parameters)
    if (session_.bound().step().graph.output(path) != nullptr)
      out.emplace_back(path, session_.program().state(path));
  return out;
}

Array Run::history_table() const {
  const auto columns = kOwnColumns + static_cast<std::int64_t>(options_.metrics.size());
  Array out(DType::f64, {static_cast<std::int64_t>(history_.epochs.size()), columns});
  std::int64_t at = 0;
  for (const EpochRecord& e : history_.epochs) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double v : {static_cast<double>(e.epoch), static_cast<double>(e.step), e.train_loss,
                           e.samples_per_s, e.seconds, e.lr, e.validation ? e.validation->loss : nan})
      out.set(at++, v);
    for (std::size_t m = 0; m < options_.metrics.size(); ++m)
      out.set(at++, e.validation ? e.validation->metrics.at(m) : nan);
  }
  return out;
}

void Run::read_history(const Array& table) {
  const auto columns = table.dims().at(1);
  const auto metrics = static_cast<std::int64_t>(options_.metrics.size());
  for (std::int64_t row = 0; row < table.dims()[0]; ++row) {
    const auto at = [&](std::int64_t column) { return table.at(row * columns + column); };
    EpochRecord e{
        static_cast<std::int64_t>(at(0)), static_cast<std::int64_t>(at(1)), at(2), {}, at(3), at(4), at(5)};
    if (!std::isnan(at(6))) {
      e.validation = Evaluation{at(6), {}};
      for (std::int64_t m = 0; m < metrics; ++m)
        e.validation->metrics.push_back(kOwnColumns + m < columns ? at(kOwnColumns + m)
                                                                  : std::numeric_limits<double>::quiet_NaN());
    }
    history_.epochs.push_back(std::move(e));
  }
}

Checkpoint Run::checkpoint() {
  std::string weights;  // for load_weights
  for (const auto& s : model_.module->states()) weights += s.path + "\n";
  Checkpoint out{step(), {}, {{"walk", walk_text(options_, rows_)}, {"weights", weights}}};
  for (const auto& [name, state] : session_.states()) out.tensors.emplace_back(name, state.clone());
  for (const auto& s : model_.module->states())
    if (!session_.has_state(s.path)) out.tensors.emplace_back(s.path, s.array().clone());
  out.tensors.emplace_back(kHistory, history_table());
  out.tensors.emplace_back(kNumbers, Array::of<double>({2}, {seconds(), lr()}));
  for (const auto& callback : options_.callbacks)
    for (const auto& [name, value] : callback->save())
      out.tensors.emplace_back(fmt::format("{}{}.{}", kCallback, callback->name(), name), value.clone());
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

void Run::resume(const Checkpoint& checkpoint, const std::string& name) {
  const auto walk = checkpoint.metadata.find("walk");
  const std::string own = walk_text(options_, rows_);
  if (walk != checkpoint.metadata.end() && walk->second != own)
    throw Error(fmt::format("{}: belongs to a run over other data or in another order ({}, now {})", name,
                            walk->second, own));
  const auto states = session_.states();
  check_fit(states, checkpoint, name);
  const Array *history = checkpoint.find(kHistory), *numbers = checkpoint.find(kNumbers);
  if (history == nullptr || history->rank() != 2 || history->dims()[1] < kOwnColumns || numbers == nullptr ||
      numbers->count() != 2)
    throw Error(name + ": is no checkpoint of a run that this version can go on with");
  for (const auto& [state, array] : states) {
    Array view = array;
    if (const Array* found = checkpoint.find(state))
      std::memcpy(view.bytes(), found->bytes(), view.size_bytes());
  }
  for (const auto& [state, array] : states)
    if (state.starts_with(kAverage) && checkpoint.find(state) == nullptr)
      session_.program().set_state(state, session_.program().state(state.substr(kAverage.size())));
  for (const auto& s : model_.module->states())
    if (const Array* found = checkpoint.find(s.path); found != nullptr && !session_.has_state(s.path))
      s.assign(*found);
  session_.go_on_at(checkpoint.step);
  read_history(*history);
  seconds_before_ = numbers->at(0);
  lr_ = numbers->at(1);
  for (const auto& callback : options_.callbacks)
    if (const Saved saved = saved_of(checkpoint, callback->name()); !saved.empty())
      callback->load(*this, saved);
}

}  // namespace tightloop::train
