// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/module.h>

#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// Writes every parameter and buffer of the module under its state-dict name as safetensors. The file appears
/// whole or not at all. Throws Error when it cannot be written and for a parameter without a value.
void save_weights(nn::Module& module, const std::string& path);

/// How the names of a file's tensors become those of a model, in this order.
struct WeightMap {
  std::string strip = {};  ///< taken away from the front of names that begin so
  std::string add = {};    ///< put in front of every name
  /// Regular expressions (ECMAScript) and what replaces each match, $1 being its first group.
  std::vector<std::pair<std::string, std::string>> map = {};
  /// Every parameter and buffer must be in the file, and nothing else. Otherwise what has no partner is left
  /// as it is; shapes must fit all the same.
  bool strict = true;

  bool changes_names() const { return !strip.empty() || !add.empty() || !map.empty(); }
};

/// Copies the tensors of a safetensors file, or the weights of a checkpoint, into the module's parameters and
/// buffers. Throws Error listing every name that does not fit. What was left out without `strict` comes back
/// as text, "" when everything fitted.
std::string load_weights(nn::Module& module, const std::string& path, const WeightMap& map = {});

/// The same for variables by their names, which must differ: what a loop written by hand needs to go on
/// later, e.g. those of Module::variables() and optim::State::states().
void save_variables(const std::vector<Variable>& variables, const std::string& path);
void load_variables(const std::vector<Variable>& variables, const std::string& path);

}  // namespace tightloop::train

namespace tightloop {
using train::load_variables;
using train::load_weights;
using train::save_variables;
using train::save_weights;
}  // namespace tightloop
