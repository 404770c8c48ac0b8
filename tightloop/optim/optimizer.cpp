// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/optimizer.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::optim {
namespace {

constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

std::size_t group_of(std::span<const Group> groups, const std::string& path) {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return matches(g.pattern, path); });
  return found == groups.end() ? kNoGroup : static_cast<std::size_t>(found - groups.begin());
}

void check_patterns(std::span<const Group> groups, std::span<const Item> items) {
  for (const Group& g : groups) {
    const bool used =
        std::any_of(items.begin(), items.end(), [&](const Item& i) { return matches(g.pattern, i.path); });
    if (used) continue;
    std::vector<std::string> paths;
    for (const Item& i : items) paths.push_back(i.path);
    throw Error(fmt::format("optimizer: no parameter matches '{}'{}; the parameters are {}", g.pattern,
                            suggestion(g.pattern, paths), fmt::join(paths, ", ")));
  }
}

/// The factors of a group, made when its first parameter comes.
struct Prepared {
  Factors factors;
  double weight_decay = 0;
};

Prepared prepare(const Optimizer& rule, const Group* group, const Tensor& step, const Tensor& lr) {
  const double decay = group && group->weight_decay ? *group->weight_decay : rule.weight_decay();
  const Tensor rate = group && group->lr_scale != 1 ? lr * group->lr_scale : lr;
  return {rule.prepare(step, rate, decay), decay};
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

std::vector<Update> apply(const Optimizer& rule, std::span<const Item> items, const Tensor& step,
                          const Tensor& lr, std::span<const Group> groups) {
  check_patterns(groups, items);
  const Tensor count = step + 1.0;
  std::vector<std::optional<Prepared>> prepared(groups.size() + 1);
  std::vector<Update> out;
  for (const Item& item : items) {
    rule.check(item.path, item.parameter.type());
    const std::size_t index = group_of(groups, item.path);
    const Group* group = index == kNoGroup ? nullptr : &groups[index];
    auto& p = prepared[group ? index : groups.size()];
    if (!p) p = prepare(rule, group, count, lr);
    out.push_back(rule.update(item.parameter, item.gradient, item.slots, p->factors, p->weight_decay));
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
