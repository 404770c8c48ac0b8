// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/module.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tightloop::nn {

std::string Fields::path_of(std::string_view name) {
  if (name.empty() || name.find('.') != std::string_view::npos)
    throw Error(
        fmt::format("module: '{}{}' is no field name: it must not be empty nor hold a dot", prefix_, name));
  std::string path = prefix_ + std::string(name);
  if (std::find(taken_.begin(), taken_.end(), path) != taken_.end())
    throw Error(fmt::format("module: two fields are named '{}'", path));
  taken_.push_back(path);
  return path;
}

Fields& Fields::operator()(std::string_view name, Parameter& parameter) {
  parameters_.emplace_back(path_of(name), &parameter);
  return *this;
}

Fields& Fields::operator()(std::string_view name, Module& module) {
  const std::string path = path_of(name);
  module.name_ = name;
  modules_.emplace_back(path, &module);
  const std::string outer = std::exchange(prefix_, path + '.');
  module.fields(*this);
  prefix_ = outer;
  return *this;
}

void Module::collect(Fields& all) {
  all.modules_.emplace_back("", this);
  fields(all);
}

std::vector<Module::NamedParameter> Module::state_dict() {
  Fields all;
  collect(all);
  std::vector<NamedParameter> out;
  for (auto& [path, parameter] : all.parameters_) out.push_back({path, parameter});
  return out;
}

std::vector<Module::NamedParameter> Module::parameters() {
  std::vector<NamedParameter> out;
  std::unordered_set<const Parameter*> seen;
  for (auto& named : state_dict())
    if (seen.insert(named.parameter).second) {
      named.parameter->set_name(named.path);
      out.push_back(std::move(named));
    }
  return out;
}

std::vector<Variable> Module::variables() {
  std::vector<Variable> out;
  for (const auto& p : parameters())
    if (!p.parameter->frozen()) out.push_back(p.parameter->variable());
  return out;
}

std::vector<Module::NamedModule> Module::modules() {
  Fields all;
  collect(all);
  std::vector<NamedModule> out;
  for (auto& [path, module] : all.modules_) out.push_back({path, module});
  return out;
}

Parameter& Module::parameter(std::string_view path) {
  std::vector<std::string> known;
  for (auto& named : state_dict()) {
    if (named.path == path) return *named.parameter;
    known.push_back(named.path);
  }
  throw Error(fmt::format("module: no parameter '{}'{}; it has {}", path, suggestion(path, known),
                          fmt::join(known, ", ")));
}

std::int64_t Module::count() {
  std::int64_t n = 0;
  for (const auto& p : parameters()) n += p.parameter->count();
  return n;
}

std::int64_t Module::trainable_count() {
  std::int64_t n = 0;
  for (const auto& p : parameters())
    if (!p.parameter->frozen()) n += p.parameter->count();
  return n;
}

void Module::initialize(std::uint64_t seed) {
  std::uint32_t stream = 0;
  for (const auto& p : parameters()) p.parameter->initialize({seed, stream++});
}

void Module::freeze(bool frozen) {
  for (const auto& p : parameters()) p.parameter->freeze(frozen);
}

void Module::apply(const std::function<void(Module&)>& visit) {
  const auto all = modules();
  for (auto m = all.rbegin(); m != all.rend(); ++m) visit(*m->module);
}

std::string Module::summary() {
  std::string out;
  const auto all = parameters();
  for (const auto& m : modules()) {
    if (m.path.empty()) continue;
    out += fmt::format("{:<20} {}\n", m.path, m.module->describe());
  }
  for (const auto& p : all)
    out += fmt::format("{:<20} {:<16} {:>10}{}\n", p.path, tightloop::to_string(p.parameter->type()),
                       p.parameter->count(), p.parameter->frozen() ? "  frozen" : "");
  return out + fmt::format("{} parameters\n", count());
}

}  // namespace tightloop::nn
