// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/module.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// Writes every parameter and buffer of the module under its state-dict name as safetensors. The file appears
/// whole or not at all. Throws Error when it cannot be written and for a parameter without a value.
void save_weights(nn::Module& module, const std::string& path);

/// Copies the tensors of a safetensors file into the module's parameters and buffers. Throws Error listing
/// every name that does not fit.
void load_weights(nn::Module& module, const std::string& path);

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
