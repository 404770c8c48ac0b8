// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/module.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tightloop::nn {

const Variable& NamedState::variable() const {
  return parameter != nullptr ? parameter->variable() : buffer->variable();
}

std::size_t NamedState::bytes() const {
  return static_cast<std::size_t>(type().shape.count({})) * size_of(type().dtype);
}

Array NamedState::array() const { return parameter != nullptr ? parameter->array() : buffer->array(); }

void NamedState::assign(const Array& value) const {
  parameter != nullptr ? parameter->assign(value) : buffer->assign(value);
}

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
  states_.push_back({path_of(name), &parameter, nullptr});
  return *this;
}

Fields& Fields::operator()(std::string_view name, Buffer& buffer) {
  states_.push_back({path_of(name), nullptr, &buffer});
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

std::vector<NamedState> Module::state_dict() {
  Fields all;
  collect(all);
  return std::move(all.states_);
}

std::vector<NamedState> Module::states() {
  std::vector<NamedState> out;
  std::unordered_set<const void*> seen;
  for (auto& named : state_dict())
    if (seen.insert(named.variable().id()).second) {
      named.set_name(named.path);
      out.push_back(std::move(named));
    }
  return out;
}

std::vector<Module::NamedParameter> Module::parameters() {
  std::vector<NamedParameter> out;
  for (auto& s : states())
    if (s.parameter != nullptr) out.push_back({std::move(s.path), s.parameter});
  return out;
}

std::vector<Module::NamedBuffer> Module::buffers() {
  std::vector<NamedBuffer> out;
  for (auto& s : states())
    if (s.buffer != nullptr) out.push_back({std::move(s.path), s.buffer});
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

NamedState Module::find(std::string_view path, std::string_view what,
                        const std::function<bool(const NamedState&)>& wanted) {
  std::vector<std::string> known;
  for (auto& named : state_dict()) {
    if (!wanted(named)) continue;
    if (named.path == path) return named;
    known.push_back(named.path);
  }
  throw Error(fmt::format("module: no {} '{}'{}; it has {}", what, path, suggestion(path, known),
                          fmt::join(known, ", ")));
}

NamedState Module::state(std::string_view path) {
  return find(path, "parameter or buffer", [](const NamedState&) { return true; });
}

Parameter& Module::parameter(std::string_view path) {
  return *find(path, "parameter", [](const NamedState& s) { return s.parameter != nullptr; }).parameter;
}

Buffer& Module::buffer(std::string_view path) {
  return *find(path, "buffer", [](const NamedState& s) { return s.buffer != nullptr; }).buffer;
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
  for (const auto& b : buffers()) b.buffer->reset();
}

void Module::to(DType dtype) {
  for (const NamedState& s : states()) s.parameter != nullptr ? s.parameter->to(dtype) : s.buffer->to(dtype);
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
  std::size_t bytes = 0, in_buffers = 0;
  for (const auto& m : modules()) {
    if (m.path.empty()) continue;
    out += fmt::format("{:<20} {}\n", m.path, m.module->describe());
  }
  for (const auto& s : states()) {
    const bool is_buffer = s.buffer != nullptr;
    (is_buffer ? in_buffers : bytes) += s.bytes();
    out += fmt::format("{:<20} {:<16} {:>10}{}\n", s.path, tightloop::to_string(s.type()),
                       s.type().shape.count({}),
                       is_buffer               ? "  buffer"
                       : s.parameter->frozen() ? "  frozen"
                                               : "");
  }
  out += fmt::format("{} parameters, {} bytes", count(), bytes);
  return out + (in_buffers > 0 ? fmt::format("; buffers, {} bytes\n", in_buffers) : "\n");
}

}  // namespace tightloop::nn
