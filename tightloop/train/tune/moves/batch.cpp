// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/toml.h>
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train::tune {
namespace {

constexpr std::int64_t kLeastSteps = 8;  ///< of an epoch

/// The rate for batches `factor` times as large: linear for plain gradient descent (Goyal et al., "Accurate,
/// Large Minibatch SGD", 2017), by the square root for rules that divide by the size of the gradients
/// (Malladi et al., "On the SDEs and Scaling Rules for Adaptive Gradient Algorithms", 2022).
double scaled_rate(const Situation& s, double factor) {
  const double scale = s.job.train.optimizer.name == "sgd" ? factor : std::sqrt(factor);
  return std::stod(fmt::format("{:.3g}", s.prepared.optimizer->lr() * scale));
}

Proposal propose(const Situation& s) {
  const std::string bound = batch_is_bound(s.job);
  if (!bound.empty()) return skip(bound);
  const auto& groups = s.job.train.groups;
  if (std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.lr.has_value(); }))
    return skip("train.group has rates of its own, made for this batch");
  Proposal out{.ladder = true};
  for (const std::int64_t factor : {2, 4, 8, 16, 32, 64, 128}) {
    const std::int64_t batch = s.job.data.batch * factor;
    if (batch * kLeastSteps > s.rows()) break;
    const double lr = scaled_rate(s, static_cast<double>(factor));
    Settings sets = with_batch(s.job, batch);
    sets.push_back(set("train.optimizer.name", write_toml_value(Value{s.job.train.optimizer.name})));
    sets.push_back(set("train.optimizer.lr", lr));
    out.variants.push_back({fmt::format("batch {}, lr {:g}", batch, lr), std::move(sets)});
  }
  if (out.variants.empty()) return skip(fmt::format("an epoch would have fewer than {} steps", kLeastSteps));
  return out;
}

}  // namespace

const MoveDef& batch_move() {
  static const MoveDef def{"batch", "larger batches, with the rate scaled", Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
