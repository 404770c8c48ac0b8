// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/stages.h>

#include <fmt/format.h>
#include <algorithm>
#include <set>

namespace tightloop::train {
namespace {

void check(const Thaw& thaw, const std::vector<std::string>& paths) {
  const std::string who = thaw.where.empty() ? "unfreeze" : thaw.where;
  if (thaw.at < 1) throw Error(fmt::format("{}: at must be an epoch from 1 on, not {}", who, thaw.at));
  if (thaw.match.empty()) throw Error(who + ": has no pattern");
  std::vector<optim::Group> groups;
  for (const auto& pattern : thaw.match) groups.push_back({pattern});
  try {
    optim::check_patterns(groups, paths);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", who, e.what()));
  }
}

}  // namespace

Stages::Stages(const std::vector<Thaw>& thaws, nn::Module* module) : module_(module) {
  if (thaws.empty()) return;
  std::vector<std::string> paths;
  for (const auto& p : module->parameters()) paths.push_back(p.path);
  for (const Thaw& thaw : thaws) {
    check(thaw, paths);
    for (const auto& path : paths) {
      const bool matches = std::any_of(thaw.match.begin(), thaw.match.end(),
                                       [&](const auto& m) { return optim::matches(m, path); });
      if (!matches) continue;
      const auto [own, fresh] = joins_.emplace(path, thaw.at);
      own->second = std::min(own->second, thaw.at);
    }
  }
  for (const auto& [path, at] : joins_) frozen_[path] = module->parameter(path).frozen();
}

Stages::~Stages() {
  for (const auto& [path, frozen] : frozen_) module_->parameter(path).freeze(frozen);
}

void Stages::set(std::int64_t epoch) {
  for (const auto& [path, at] : joins_) module_->parameter(path).freeze(epoch < at);
}

std::int64_t Stages::before(std::int64_t epoch) const {
  std::set<std::int64_t> changes;
  for (const auto& [path, at] : joins_)
    if (at > 1 && at <= epoch) changes.insert(at);
  return static_cast<std::int64_t>(changes.size());
}

}  // namespace tightloop::train
