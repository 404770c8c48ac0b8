// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/state_dict.h>
#include <tightloop/train/weights.h>

#include <fmt/format.h>

#include <algorithm>

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

/// Two paths of one state must not bring two values.
void check_tied(const std::vector<nn::NamedState>& states, const io::LoadedState& loaded,
                const std::string& path) {
  for (std::size_t i = 0; i < states.size(); ++i)
    for (std::size_t j = i + 1; j < states.size(); ++j)
      if (states[i].variable().id() == states[j].variable().id() &&
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

void load_weights(nn::Module& module, const std::string& path) {
  const io::TensorFile file = io::read_safetensors(path);
  const auto states = states_in(module, file);
  std::vector<io::Slot> slots;
  for (const auto& s : states) slots.push_back(slot_of(s.path, s.type()));
  const io::LoadedState loaded = io::load_state(file, slots, path);
  check_tied(states, loaded, path);
  for (std::size_t i = 0; i < slots.size(); ++i) states[i].assign(*loaded.values[i]);
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
}

}  // namespace tightloop::train
