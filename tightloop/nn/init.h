// SPDX-License-Identifier: Apache-2.0
#pragma once
// Initial values of parameters: torch.nn.init's names and formulas. Draws are Philox functions of (seed,
// stream), so nothing depends on what was drawn before.
#include <tightloop/base/array.h>

#include <cstdint>
#include <functional>

namespace tightloop::nn {

/// Where an initialiser draws from: the run's seed and a stream of the parameter's own (its index in the
/// model).
struct Draw {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
};

/// Fills a floating array.
using Initializer = std::function<void(Array& values, Draw draw)>;

namespace init {

Initializer zeros();
Initializer ones();
Initializer constant(double value);
/// [low, high)
Initializer uniform(double low = 0, double high = 1);
Initializer normal(double mean = 0, double deviation = 1);

enum class Fan : std::uint8_t { in, out };

/// √(2 / (1 + slope²)): the gain of (leaky) ReLU.
double leaky_relu_gain(double slope);

// Fans of a weight [out, in, k...]: in·k and out·k. Fewer than 2 dims throw Error.

/// U(-b, b), b = gain·√(3 / fan) with leaky ReLU's gain (He et al., 2015). Slope √5 is PyTorch's default for
/// layers.
Initializer kaiming_uniform(double slope = 0, Fan fan = Fan::in);
/// N(0, gain² / fan)
Initializer kaiming_normal(double slope = 0, Fan fan = Fan::in);
/// U(-b, b), b = gain·√(6 / (fan in + fan out)) (Glorot & Bengio, 2010).
Initializer xavier_uniform(double gain = 1);
/// N(0, gain²·2 / (fan in + fan out))
Initializer xavier_normal(double gain = 1);

}  // namespace init
}  // namespace tightloop::nn
