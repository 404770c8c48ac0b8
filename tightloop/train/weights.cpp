// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/io/state_dict.h>
#include <tightloop/train/weights.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <utility>

namespace tightloop::train {
namespace {

io::Slot slot_of(const std::string& name, const TensorType& type) {
  return {name, type.dtype, type.shape.values({})};
}

/// The states to load. One that has several paths may stand in the file under one of them only, as files that
/// keep tied weights once do.
std::vector<nn::NamedState> states_in(nn::Module& module, const io::TensorFile& file) {
  const auto all = module.state_dict();
  std::vector<nn::NamedState> out;
  for (const auto& s : all) {
    const auto stands_in = [&](const nn::NamedState& other) {
      return other.variable().id() == s.variable().id() && file.find(other.path) != nullptr;
    };
    if (file.find(s.path) != nullptr || std::none_of(all.begin(), all.end(), stands_in)) out.push_back(s);
  }
  return out;
}

/// The model's own tensors of a checkpoint; all of another file.
io::TensorFile weights_in(io::TensorFile file) {
  const auto list = file.metadata.find("weights");
  if (list == file.metadata.end()) return file;
  const std::string names = "\n" + list->second + "\n";
  std::erase_if(file.tensors,
                [&](const auto& t) { return names.find("\n" + t.first + "\n") == std::string::npos; });
  return file;
}

std::string mapped_name(std::string name, const WeightMap& map,
                        const std::vector<std::pair<std::regex, std::string>>& rules) {
  if (name.starts_with(map.strip)) name = name.substr(map.strip.size());
  name = map.add + name;
  for (const auto& [pattern, replacement] : rules) name = std::regex_replace(name, pattern, replacement);
  return name;
}

io::TensorFile mapped(io::TensorFile file, const WeightMap& map, const std::string& path) {
  if (!map.changes_names()) return file;
  std::vector<std::pair<std::regex, std::string>> rules;
  for (const auto& [pattern, replacement] : map.map) {
    try {
      rules.emplace_back(std::regex(pattern), replacement);
    } catch (const std::regex_error& e) {
      throw Error(fmt::format("model.weights: '{}' is no regular expression: {}", pattern, e.what()));
    }
  }
  std::map<std::string, std::string> from;
  for (auto& [name, array] : file.tensors) {
    const std::string given = std::exchange(name, mapped_name(name, map, rules));
    if (const auto [before, fresh] = from.emplace(name, given); !fresh)
      throw Error(
          fmt::format("{}: '{}' and '{}' are both mapped to '{}'", path, before->second, given, name));
  }
  return file;
}

/// Two paths of one state must not bring two values.
void check_tied(const std::vector<nn::NamedState>& states, const io::LoadedState& loaded,
                const std::string& path) {
  for (std::size_t i = 0; i < states.size(); ++i)
    for (std::size_t j = i + 1; j < states.size(); ++j)
      if (states[i].variable().id() == states[j].variable().id() && loaded.values[i] && loaded.values[j] &&
          !identical(*loaded.values[i], *loaded.values[j]))
        throw Error(fmt::format("{}: '{}' and '{}' are one tensor of the model, but differ in the file", path,
                                states[i].path, states[j].path));
}

}  // namespace

void save_weights(nn::Module& module, const std::string& path) {
  io::TensorFile out;
  out.metadata["format"] = "pt";
  for (const auto& s : module.state_dict()) out.tensors.emplace_back(s.path, s.array());
  io::write_safetensors(path, out);
}

namespace {

/// The weights are copies by now.
void check_unchanged(const io::TensorFile& file) {
  MappedFiles files;
  for (const auto& [name, array] : file.tensors) files.add(array.bytes());
  files.check(true);
}

}  // namespace

std::string load_weights(nn::Module& module, const std::string& path, const WeightMap& map) {
  const io::TensorFile file = mapped(weights_in(io::read_safetensors(path)), map, path);
  const auto states = states_in(module, file);
  std::vector<io::Slot> slots;
  for (const auto& s : states) slots.push_back(slot_of(s.path, s.type()));
  const io::LoadedState loaded = io::load_state(file, slots, path, {.strict = map.strict});
  check_tied(states, loaded, path);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (loaded.values[i]) states[i].assign(*loaded.values[i]);
  check_unchanged(file);
  return loaded.report.text();
}

void save_variables(const std::vector<Variable>& variables, const std::string& path) {
  io::TensorFile out;
  for (const Variable& v : variables) out.tensors.emplace_back(v.name(), v.array());
  io::write_safetensors(path, out);
}

void load_variables(const std::vector<Variable>& variables, const std::string& path) {
  const io::TensorFile file = io::read_safetensors(path);
  std::vector<io::Slot> slots;
  for (const Variable& v : variables) slots.push_back(slot_of(v.name(), v.type()));
  const io::LoadedState loaded = io::load_state(file, slots, path);
  for (std::size_t i = 0; i < slots.size(); ++i) variables[i].set(*loaded.values[i]);
  check_unchanged(file);
}

}  // namespace tightloop::train
