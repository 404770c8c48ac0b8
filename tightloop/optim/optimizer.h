// SPDX-License-Identifier: Apache-2.0
#pragma once
// Update rules: pure functions from a parameter, its gradient and its slots to new ones. Formulas and
// defaults are those of torch.optim.
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::optim {

struct Update {
  Tensor parameter;
  std::vector<Tensor> slots;  ///< in the order of slots()
};

/// The scalars that all parameters of one group share in one step, as prepare() made them (f64[]).
using Factors = std::vector<Tensor>;

/// Parameters whose path matches `pattern` ("*.bias", "norm?.*") learn otherwise. The first match counts.
struct Group {
  std::string pattern;
  double lr_scale = 1;
  std::optional<double> weight_decay = {};  ///< none: the optimizer's
  std::optional<double> lr = {};  ///< before lr_scale; none: the optimizer's. Moves as the optimizer's does
};

/// How a rule's slots are kept from step to step (optim/slot_code.h); it computes with the parameter's type.
enum class SlotType : std::uint8_t { f32, bf16, int8 };

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual double lr() const = 0;
  virtual double weight_decay() const = 0;
  /// State kept for each parameter, e.g. "exp_avg": of the parameter's type, zero at the start.
  virtual std::vector<std::string> slots() const = 0;
  /// Names of slots that are never negative, such as averages of squares.
  virtual std::vector<std::string> positive_slots() const { return {}; }
  /// `step`: i64[], 1 in the first step; `lr`: f64[].
  virtual Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const = 0;
  /// The momentum or β₁ that a schedule may move; none: the rule has none, or it stays.
  virtual std::optional<double> momentum() const { return {}; }
  /// prepare() with `momentum` (f64[]) in the place of momentum(), for rules that have one.
  virtual Factors prepare_with(const Tensor& step, const Tensor& lr, double weight_decay,
                               const Tensor& momentum) const;
  /// Throws Error, naming `path`, when the rule is not for parameters of this type.
  virtual void check(std::string_view /*path*/, const TensorType& /*parameter*/) const {}
  /// Depends on this parameter alone, and most are elementwise. `weight_decay` as given to prepare().
  virtual Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                        const Factors& factors, double weight_decay) const = 0;

  const std::vector<Group>& groups() const { return groups_; }
  /// Throws Error for a rate, scale or decay that is negative or not finite.
  void set_groups(std::vector<Group> groups);

  SlotType slot_type() const { return slot_type_; }
  /// Throws Error, naming the rule by `owner`, when it has no slots to keep in fewer bits.
  void set_slot_type(SlotType type, std::string_view owner = "optimizer");

 private:
  std::vector<Group> groups_;
  SlotType slot_type_ = SlotType::f32;
};

/// The rule with its slots in fewer bits: with_slots(Adam({.lr = 1e-3}), SlotType::bf16).
template <std::derived_from<Optimizer> Rule>
Rule with_slots(Rule rule, SlotType type) {
  rule.set_slot_type(type);
  return rule;
}

/// The rule with groups: with_groups(AdamW({.lr = 1e-3}), {{.pattern = "*.bias", .weight_decay = 0.0}}).
template <std::derived_from<Optimizer> Rule>
Rule with_groups(Rule rule, std::vector<Group> groups) {
  rule.set_groups(std::move(groups));
  return rule;
}

/// True when `text` matches `pattern`, where * stands for any characters and ? for one.
bool matches(std::string_view pattern, std::string_view text);

/// One parameter in a step graph.
struct Item {
  std::string path;
  Tensor parameter;
  Tensor gradient;
  std::vector<Tensor> slots;
  double since = 0;  ///< updates of the run before its own first
  Tensor skipped =
      {};  ///< i64[]: updates from there on that were left out; empty: none. One for each `since`
};

/// How fast a step goes.
struct Pace {
  Tensor step;           ///< i64[], 0 in the first step
  Tensor lr;             ///< f64[]
  Tensor momentum = {};  ///< f64[], where a schedule moves it
};

/// Applies the rule, with its groups, to every item. `step`: i64[], 0 in the first step (the graph's step
/// input); `lr`: f64[]. Throws Error when a group's pattern matches no item, or a parameter is not one for
/// this rule.
std::vector<Update> apply(const Optimizer& rule, std::span<const Item> items, const Tensor& step,
                          const Tensor& lr);
/// The same; patterns of groups may match one of `frozen` instead.
std::vector<Update> apply(const Optimizer& rule, std::span<const Item> items, const Pace& pace,
                          const std::vector<std::string>& frozen);

/// What a parameter learns with at the start of a run.
struct Membership {
  const Group* group = nullptr;  ///< null: in no group
  double lr = 0;
  double weight_decay = 0;
};
Membership membership(const Optimizer& rule, std::string_view path);
/// Throws Error, suggesting a near pattern, when a group's pattern matches none of `paths`.
void check_patterns(std::span<const Group> groups, const std::vector<std::string>& paths);

/// Groups that keep every parameter matching a pattern out of weight decay.
std::vector<Group> without_decay(const std::vector<std::string>& patterns);

/// The name a slot has as a state and in a checkpoint: "optimizer.<slot>.<path>".
std::string slot_name(std::string_view slot, std::string_view path);

/// An optimizer that a job file names. One per file, listed in optim/index.def.
struct OptimizerDef {
  std::string_view name;
  std::string_view doc;
  std::vector<OptionSpec> options;
  std::unique_ptr<Optimizer> (*build)(const Options& resolved) = nullptr;
  bool whole_data = false;  ///< no update rule: needs the loss over all rows, several times a step
};

/// The optimizers of optim/index.def, in its order.
std::span<const OptimizerDef* const> all_optimizers();
/// Null when there is none of this name.
const OptimizerDef* find_optimizer(std::string_view name);
/// Checks `given` and builds. Throws Error on an unknown name (suggesting the nearest), option or value.
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const Options& given = {});

}  // namespace tightloop::optim
