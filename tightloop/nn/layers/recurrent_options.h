// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a forward text may say to rnn, lstm and gru. There the batch always comes first.
#include <tightloop/nn/layers/recurrent.h>

namespace tightloop::nn::layers {

/// hidden_size, num_layers, bias, dropout, bidirectional, last, and one that only one kind has.
std::vector<OptionSpec> recurrent_specs(std::optional<OptionSpec> own = {});
RecurrentOptions recurrent_options(const Options& resolved);
/// The last dim of [B, T, features]; throws Error naming `layer` for any other type.
std::int64_t features_of_sequence(const char* layer, const TensorType& x);

}  // namespace tightloop::nn::layers
