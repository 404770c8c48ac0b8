// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/optimizer.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tightloop::optim {
namespace {

const Group* group_of(std::span<const Group> groups, std::string_view path) {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return matches(g.pattern, path); });
  return found == groups.end() ? nullptr : &*found;
}

/// Patterns that would match something: every path, its ends behind "*." and its beginnings before ".*".
std::vector<std::string> near_patterns(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const auto& path : paths) {
    out.push_back(path);
    for (auto dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      out.push_back("*" + path.substr(dot));
      out.push_back(path.substr(0, dot) + ".*");
    }
  }
  return out;
}

double decay_of(const Optimizer& rule, const Group* group) {
  return group && group->weight_decay ? *group->weight_decay : rule.weight_decay();
}

/// A group's own rate moves as `lr` does: exactly its own while `lr` is the rule's.
Tensor rate_of(const Optimizer& rule, const Group* group, const Tensor& lr) {
  if (group == nullptr) return lr;
  Tensor rate = lr;
  if (group->lr) rate = rule.lr() > 0 ? lr / rule.lr() * *group->lr : scalar(*group->lr, DType::f64);
  return group->lr_scale == 1 ? rate : rate * group->lr_scale;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void Optimizer::set_groups(std::vector<Group> groups) {
  for (const Group& g : groups) {
    const std::string owner = "group '" + g.pattern + "'";
    check_not_negative(owner, "lr_scale", g.lr_scale);
    if (g.lr) check_not_negative(owner, "learning rate", *g.lr);
    if (g.weight_decay) check_not_negative(owner, "weight_decay", *g.weight_decay);
  }
  groups_ = std::move(groups);
}

void Optimizer::set_slot_type(SlotType type, std::string_view owner) {
  if (type != SlotType::f32 && slots().empty())
    throw Error(
        fmt::format("{}: keeps no state, so it cannot be kept in fewer bits; leave state out", owner));
  slot_type_ = type;
}

void check_patterns(std::span<const Group> groups, const std::vector<std::string>& paths) {
  for (const Group& g : groups)
    if (std::none_of(paths.begin(), paths.end(), [&](const auto& path) { return matches(g.pattern, path); }))
      throw Error(fmt::format("optimizer: no parameter matches '{}'{}; the parameters are {}", g.pattern,
                              suggestion(g.pattern, near_patterns(paths)), fmt::join(paths, ", ")));
}

Membership membership(const Optimizer& rule, std::string_view path) {
  const Group* group = group_of(rule.groups(), path);
  const double lr = group && group->lr ? *group->lr : rule.lr();
  return {group, group ? lr * group->lr_scale : lr, decay_of(rule, group)};
}

Factors Optimizer::prepare_with(const Tensor&, const Tensor&, double, const Tensor&) const {
  throw InternalError("prepare_with: a rule without momentum");
}

std::vector<Update> apply(const Optimizer& rule, std::span<const Item> items, const Tensor& step,
                          const Tensor& lr) {
  return apply(rule, items, Pace{step, lr}, {});
}

std::vector<Update> apply(const Optimizer& rule, std::span<const Item> items, const Pace& pace,
                          const std::vector<std::string>& frozen) {
  std::vector<std::string> paths = frozen;
  for (const Item& item : items) paths.push_back(item.path);
  check_patterns(rule.groups(), paths);
  std::map<std::pair<const Group*, double>, Factors> factors;  // made when the first such parameter comes
  std::vector<Update> out;
  for (const Item& item : items) {
    rule.check(item.path, item.parameter.type());
    const Group* group = group_of(rule.groups(), item.path);
    const double decay = decay_of(rule, group);
    auto found = factors.find({group, item.since});
    if (found == factors.end()) {
      const Tensor made = pace.step + (1.0 - item.since), lr = rate_of(rule, group, pace.lr);
      const Tensor count = item.skipped.defined() ? made - item.skipped : made;
      found = factors
                  .emplace(std::pair(group, item.since),
                           pace.momentum.defined() ? rule.prepare_with(count, lr, decay, pace.momentum)
                                                   : rule.prepare(count, lr, decay))
                  .first;
    }
    out.push_back(rule.update(item.parameter, item.gradient, item.slots, found->second, decay));
  }
  return out;
}

std::vector<Group> without_decay(const std::vector<std::string>& patterns) {
  std::vector<Group> out;
  for (const auto& p : patterns) out.push_back({p, 1, 0.0});
  return out;
}

std::string slot_name(std::string_view slot, std::string_view path) {
  return fmt::format("optimizer.{}.{}", slot, path);
}

}  // namespace tightloop::optim
