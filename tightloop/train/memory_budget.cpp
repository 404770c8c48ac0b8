// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/memory_budget.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace tightloop::train {
namespace {

using What = Recompute::What;

/// Arithmetic in whose time a core moves a byte to or from memory.
constexpr double kOperationsPerByte = 20;
/// A step reads and writes its states.
constexpr double kStatePasses = 2;
/// Parts of a batch that a net normalises by are another training: they come after everything else.
constexpr double kOtherStatistics = 1000;

bool normalizes_by_batch(const StepGraph& step) {
  return std::any_of(step.graph.outputs.begin(), step.graph.outputs.end(),
                     [](const auto& o) { return o.name.ends_with("running_mean"); });
}

std::vector<std::int64_t> divisors(std::int64_t of) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= of / d; ++d)
    if (of % d == 0) {
      out.push_back(d);
      if (d != of / d) out.push_back(of / d);
    }
  return out;
}

std::int64_t least_rows(const StepGraph& step) {
  std::int64_t rows = 1;
  for (const nn::Check& check : step.checks) rows = std::max(rows, check.least_rows);
  return rows;
}

/// The search: plans are made when they are first asked for.
class Search {
 public:
  Search(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
         const Metrics& metrics, const TrainingData& data, const TrainerOptions& options)
      : model_(model),
        loss_(loss),
        optimizer_(optimizer),
        metrics_(metrics),
        data_(data),
        options_(options),
        whole_(dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr) {}

  MemoryChoice run() {
    MemoryChoice plain = made({options_.compile.recompute.what, 1, 0});
    least_ = plain.plan.total();
    if (fits(plain)) return plain;
    std::vector<Way> ways = all_ways();
    std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.cost < b.cost; });
    for (const Way& way : ways) {
      MemoryChoice choice = made(way);
      least_ = std::min(least_, choice.plan.total());
      if (fits(choice)) return choice;
    }
    throw Error(
        fmt::format("memory: {} are too little for this training: it takes {} as it is, and {} at least{}",
                    memory_size(options_.memory), memory_size(plain.plan.total()), memory_size(least_),
                    options_.recompute_to_fit ? "" : "; recompute = \"auto\" may need less"));
  }

 private:
  struct Way {
    What what;
    std::int64_t parts;
    double cost;
  };

  bool fits(const MemoryChoice& c) const { return c.plan.total() <= options_.memory; }

  std::vector<Way> all_ways() {
    std::vector<What> whats{options_.compile.recompute.what};
    if (whats[0] == What::nothing && options_.recompute_to_fit)
      whats = {What::nothing, What::cheap, What::blocks};
    std::vector<Way> out;
    for (const What what : whats) {
      const MemoryPlanner& one = planner(what, 1);
      const double again = one.at(options_.batch, 1).recomputed;
      const StepGraph& step = one.step();
      for (const std::int64_t parts : divisors(options_.batch))
        if (parts == 1 || options_.batch / parts >= least_rows(step))
          out.push_back({what, parts, again + static_cast<double>(parts - 1) * part_cost(one)});
      if (normalizes_by_batch(step))
        for (Way& way : out) way.cost += way.parts > 1 && way.cost < kOtherStatistics ? kOtherStatistics : 0;
    }
    return out;
  }

  /// What each further step of an update costs: it moves the states once more.
  double part_cost(const MemoryPlanner& plan) const {
    const std::int64_t rows = std::min(options_.batch, data_.train.count());
    const double states = static_cast<double>(plan.at(1, 1).kept);
    return kOperationsPerByte * kStatePasses * states / step_flops(plan.step().graph, {rows, rows});
  }

  const MemoryPlanner& planner(What what, std::int64_t parts) {
    auto& planner = planners_[{what, parts > 1 && !whole_}];
    if (planner == nullptr) {
      TrainerOptions options = options_;
      MemoryChoice choice;
      choice.batch = options.batch / parts;
      choice.parts = parts;
      choice.one_update = !whole_;
      choice.recompute = recompute(what);
      apply(choice, options);
      planner = std::make_unique<MemoryPlanner>(model_, loss_, optimizer_, metrics_, data_, options);
    }
    return *planner;
  }

  Recompute recompute(What what) const {
    return what == options_.compile.recompute.what ? options_.compile.recompute : Recompute{what, {}};
  }

  /// A smaller batch of evaluations costs little, so it is as large as there is room for.
  MemoryChoice made(const Way& way) {
    const MemoryPlanner& plans = planner(way.what, way.parts);
    MemoryChoice out;
    out.budget = options_.memory;
    out.batch = options_.batch / way.parts;
    out.parts = way.parts;
    out.one_update = !whole_;
    out.recompute = recompute(way.what);
    out.batch_statistics = way.parts > 1 && normalizes_by_batch(plans.step());
    out.cost = way.cost >= kOtherStatistics ? way.cost - kOtherStatistics : way.cost;
    out.plan = plans.at(out.batch, 1);
    TrainerOptions usual = options_;
    usual.batch = out.batch;
    const std::size_t one = plans.evaluation_bytes(1);
    std::int64_t rows = usual.evaluation_batch();
    std::size_t most = plans.evaluation_bytes(rows);
    for (; rows > 1 && out.plan.total() - one + most > options_.memory; most = plans.evaluation_bytes(rows))
      rows /= 2;
    out.plan.temporaries += most - one;
    out.evaluation = rows == usual.evaluation_batch() ? options_.evaluation_rows : rows;
    return out;
  }

  const Model& model_;
  const nn::LossFn& loss_;
  const optim::Optimizer& optimizer_;
  const Metrics& metrics_;
  const TrainingData& data_;
  const TrainerOptions& options_;
  bool whole_;
  std::size_t least_ = 0;
  std::map<std::pair<What, bool>, std::unique_ptr<MemoryPlanner>> planners_;
};

/// The factor of a unit; 0: there is none of this name.
double unit(std::string_view name) {
  if (name.empty() || name == "B") return 1;
  static constexpr std::string_view kPrefixes = "kMGT";
  const char first = name[0] == 'K' ? 'k' : name[0];
  const std::size_t power = kPrefixes.find(first);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = name.substr(1);
  if (rest != "B" && rest != "iB" && !rest.empty()) return 0;
  return std::pow(rest == "iB" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

std::string again_text(const Recompute& what) {
  switch (what.what) {
    case What::nothing:
      return "";
    case What::cheap:
      return ", elementwise values computed again";
    case What::blocks:
      return ", the inside of blocks computed again";
    case What::layers:
      return fmt::format(", the inside of {} computed again", fmt::join(what.layers, ", "));
  }
  return "";
}

}  // namespace

std::size_t memory_bytes(const std::string& text, const std::string& who) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool share = rest == "%";
  const double bytes = share ? number / 100 * static_cast<double>(machine_memory()) : number * unit(rest);
  if (error != std::errc() || !(bytes >= 1) || bytes > 9e18 || (share && number > 100))
    throw Error(
        fmt::format("{}: '{}' is no amount of memory: write bytes, a size such as \"2GB\" or \"512MiB\", "
                    "or a share of the machine's such as \"50%\"",
                    who, text));
  return static_cast<std::size_t>(bytes);
}

std::string memory_size(std::size_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"bytes", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string MemoryChoice::text() const {
  std::string out = fmt::format("memory: {} planned of {}: ", memory_size(plan.total()), memory_size(budget));
  out += parts == 1 ? fmt::format("batches of {} rows", batch)
                    : fmt::format("{} batches of {} rows in the place of one", parts, batch);
  out += again_text(recompute);
  if (evaluation > 0) out += fmt::format(", evaluations by {} rows", evaluation);
  out += cost > 0 ? fmt::format("; about {:.0f} % more time", 100 * cost) : "; costs nothing";
  if (batch_statistics) out += "; batch_norm sees the smaller batches";
  return out;
}

MemoryChoice fit_memory(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                        const Metrics& metrics, const TrainingData& data, const TrainerOptions& options) {
  return Search(model, loss, optimizer, metrics, data, options).run();
}

MemoryChoice fit_memory(PreparedJob& p) {
  return fit_memory(p.model->model(), p.loss, *p.optimizer, p.metrics, seen_by(p.options, p.data.data),
                    p.options);
}

void apply(const MemoryChoice& choice, TrainerOptions& options) {
  const std::int64_t parts = choice.parts;
  options.memory = 0;
  options.batch = choice.batch;
  options.evaluation_rows = choice.evaluation;
  options.compile.recompute = choice.recompute;
  if (parts == 1) return;
  if (choice.one_update) options.update.accumulate *= parts;
  options.max_steps *= parts;
  options.overfit_batches *= parts;
  if (options.log_every > 0) options.log_every *= parts;
  for (BatchLimit* limit : {&options.limit_batches, &options.limit_validation_batches})
    if (const auto* count = std::get_if<std::int64_t>(&limit->given())) *limit = BatchLimit(*count * parts);
}

}  // namespace tightloop::train
