// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/swa.h>

#include <fmt/format.h>
#include <cmath>
#include <cstring>

namespace tightloop::train {
namespace {

constexpr const char* kAveraged = "average.";

/// average + (value - average) / n
template <class T>
void move(Array& average, const Array& value, std::int64_t n) {
  const std::span<T> to = average.as<T>();
  const std::span<const T> from = value.as<T>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += (from[i] - to[i]) / static_cast<T>(n);
}

Array present(Run& run, const std::string& path) {
  return run.session().has_state(path) ? run.session().program().state(path)
                                       : run.model().module->state(path).variable().shared();
}

}  // namespace

Swa::Swa(SwaOptions options) : options_(options) {
  if (!(options.lr > 0) || !std::isfinite(options.lr))
    throw Error(fmt::format("swa: lr must be greater than 0, not {}", options.lr));
  const bool whole = options.start == std::floor(options.start);
  if (!(options.start > 0) || !std::isfinite(options.start) || (options.start >= 1 && !whole))
    throw Error(
        fmt::format("swa: start must be an epoch from 1 on, or a share of the epochs between 0 and 1, not {}",
                    options.start));
  if (options.anneal_epochs < 0)
    throw Error(fmt::format("swa: anneal_epochs must be 0 or greater, not {}", options.anneal_epochs));
}

void Swa::check(const RunFacts& facts) const {
  const std::int64_t first = AveragingRate{options_.start}.first_epoch(facts.epochs);
  if (first > facts.epochs)
    throw Error(fmt::format("swa: starts in epoch {}, but the run has {}", first, facts.epochs));
}

void Swa::prepare(UpdateOptions& update) const {
  update.averaging = {options_.start, options_.lr, options_.anneal_epochs, options_.linear};
}

void Swa::start(Run& run) {
  averages_.clear();
  count_ = statistics_of_ = 0;
  statistics_.reset();
  run.show({});
}

void Swa::step(Run& run) {
  const std::int64_t epoch = run.epoch();
  if (run.step() != epoch * run.session().steps_per_epoch()) return;
  if (epoch >= AveragingRate{options_.start}.first_epoch(run.facts().epochs)) add(run);
}

void Swa::add(Run& run) {
  ++count_;
  for (const auto& p : run.model().module->parameters()) {
    const Array value = present(run, p.path);
    const auto [own, fresh] = averages_.try_emplace(p.path);
    if (fresh)
      own->second = value.clone();
    else if (value.dtype() == DType::f64)
      move<double>(own->second, value, count_);
    else
      move<float>(own->second, value, count_);
  }
  if (count_ == 1) show(run);
}

void Swa::show(Run& run) {
  if (!options_.evaluate) return;
  run.show([this, &run](const std::string& path) { return find(run, path); });
  run.end_with_average();
}

std::optional<Array> Swa::find(Run& run, const std::string& path) {
  if (const auto average = averages_.find(path); average != averages_.end()) return average->second;
  if (statistics_ == nullptr)
    statistics_ = std::make_unique<NormStatistics>(run.model(), run.session().data(),
                                                   run.session().bound().part(), run.options());
  if (statistics_of_ != count_) {
    statistics_->run([&](const std::string& name) {
      const auto average = averages_.find(name);
      return average == averages_.end() ? present(run, name) : average->second;
    });
    statistics_of_ = count_;
  }
  const Array* found = statistics_->find(path);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void Swa::weights(Run& run) {
  if (!options_.evaluate) return;
  if (count_ == 0) return run.note("swa: the run ended before the first epoch that it averages");
  for (auto& [path, array] : run.changing()) {
    const auto own = find(run, path);
    if (own) std::memcpy(array.bytes(), own->bytes(), array.size_bytes());
  }
  run.note(fmt::format("the weights are swa's average of {} epoch{}", count_, count_ == 1 ? "" : "s"));
}

Saved Swa::save() const {
  Saved out{{"count", Array::scalar<std::int64_t>(count_)}};
  for (const auto& [path, array] : averages_) out.emplace(kAveraged + path, array);
  return out;
}

void Swa::load(Run& run, const Saved& saved) {
  const auto count = saved.find("count");
  if (count == saved.end() || count->second.count() != 1 || count->second.int_at(0) == 0) return;
  for (const auto& p : run.model().module->parameters()) {
    const auto own = saved.find(kAveraged + p.path);
    if (own == saved.end() || own->second.dims() != p.parameter->dims()) return averages_.clear();
    averages_[p.path] = own->second.clone();
  }
  count_ = count->second.int_at(0);
  show(run);
}

const CallbackDef& swa_callback() {
  static const CallbackDef def{
      "swa",
      "the average of the weights of the last epochs",
      "lr",
      {{"lr", OptionType::number, {}, "the rate that averaged epochs come to", true},
       {"start", OptionType::number, 0.8, "first epoch, or below 1 a share of the epochs"},
       {"anneal_epochs", OptionType::integer, std::int64_t{10}, "from the rate at the start to lr"},
       {"anneal_strategy", OptionType::text, std::string("cos"), "cos or linear"},
       {"evaluate", OptionType::boolean, true, "validation and the saved model have the averages"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        const std::string& way = o.at<std::string>("anneal_strategy");
        if (way != "cos" && way != "linear")
          throw Error("swa: anneal_strategy must be 'cos' or 'linear', not '" + way + "'");
        return std::make_shared<Swa>(SwaOptions{o.at<double>("lr"), o.at<double>("start"),
                                                o.at<std::int64_t>("anneal_epochs"), way == "linear",
                                                o.at<bool>("evaluate")});
      }};
  return def;
}

}  // namespace tightloop::train
