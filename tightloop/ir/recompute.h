// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tightloop {

/// Which values of a training step's forward are computed again when the backward comes to them, instead of
/// being kept from one to the other. No bit of any result depends on it: the same operations see the same
/// values, and random numbers are functions of seed, step and place.
struct Recompute {
  enum class What : std::uint8_t {
    nothing,
    cheap,   ///< elementwise values: activations, masks, what normalisation makes
    blocks,  ///< all between the narrow places of the net, such as the ends of residual blocks
    layers,  ///< all inside the layers of `layers`: what comes in and what goes out is kept
  };
  What what = What::nothing;
  std::vector<std::string> layers = {};  ///< paths as messages show them: "h.3", "layer1.0"
};

}  // namespace tightloop
