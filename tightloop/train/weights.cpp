// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/state_dict.h>
#include <tightloop/train/weights.h>

namespace tightloop::train {
namespace {

io::Slot slot_of(const std::string& name, const TensorType& type) {
  return {name, type.dtype, type.shape.values({})};
}

}  // namespace

void save_weights(nn::Module& module, const std::string& path) {
  io::TensorFile out;
  out.metadata["format"] = "pt";
  for (const auto& [name, p] : module.state_dict()) out.tensors.emplace_back(name, p->array());
  io::write_safetensors(path, out);
}

void load_weights(nn::Module& module, const std::string& path) {
  const io::TensorFile file = io::read_safetensors(path);
  const auto parameters = module.state_dict();
  std::vector<io::Slot> slots;
  for (const auto& [name, p] : parameters) slots.push_back(slot_of(name, p->type()));
  const io::LoadedState loaded = io::load_state(file, slots, path);
  for (std::size_t i = 0; i < slots.size(); ++i) parameters[i].parameter->assign(*loaded.values[i]);
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
