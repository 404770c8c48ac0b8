// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/init.h>

#include <tightloop/base/random.h>
#include <tightloop/nn/context.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tightloop::nn::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const Array& weight) {
  const auto& dims = weight.dims();
  if (dims.size() < 2)
    throw Error(
        fmt::format("init: fan in and fan out need a weight [out, in, ...], got {}", weight.type_string()));
  double field = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) field *= static_cast<double>(dims[i]);
  return {static_cast<double>(dims[1]) * field, static_cast<double>(dims[0]) * field};
}

double fan_of(const Array& weight, Fan fan) {
  const Fans f = fans_of(weight);
  return fan == Fan::in ? f.in : f.out;
}

/// Uniform words of element pairs: element e has words (e % 2)·2 and (e % 2)·2 + 1 of block e / 2.
struct Words {
  std::uint32_t first, second;
};

Words words(Draw draw, std::int64_t e) {
  const auto block = philox_block(draw.seed, draw.stream, kInitialStep, static_cast<std::uint64_t>(e / 2));
  const std::size_t at = static_cast<std::size_t>(e % 2) * 2;
  return {block[at], block[at + 1]};
}

void fill_uniform(Array& a, Draw draw, double low, double high) {
  for (std::int64_t e = 0; e < a.count(); ++e) {
    const Words w = words(draw, e);
    a.set(e, low + (high - low) * uniform_f64(w.first, w.second));
  }
}

/// Box & Muller, 1958.
void fill_normal(Array& a, Draw draw, double mean, double deviation) {
  for (std::int64_t e = 0; e < a.count(); ++e) {
    const Words w = words(draw, e);
    const double u = uniform_f64(w.first, 0);
    const double angle = 2 * std::numbers::pi * uniform_f64(w.second, 0);
    a.set(e, mean + deviation * std::sqrt(-2 * std::log1p(-u)) * std::cos(angle));
  }
}

}  // namespace

Initializer zeros() { return constant(0); }
Initializer ones() { return constant(1); }

Initializer constant(double value) {
  return [value](Array& a, Draw) {
    for (std::int64_t e = 0; e < a.count(); ++e) a.set(e, value);
  };
}

Initializer uniform(double low, double high) {
  return [low, high](Array& a, Draw draw) { fill_uniform(a, draw, low, high); };
}

Initializer normal(double mean, double deviation) {
  return [mean, deviation](Array& a, Draw draw) { fill_normal(a, draw, mean, deviation); };
}

double leaky_relu_gain(double slope) { return std::sqrt(2 / (1 + slope * slope)); }

Initializer kaiming_uniform(double slope, Fan fan) {
  return [slope, fan](Array& a, Draw draw) {
    const double bound = leaky_relu_gain(slope) * std::sqrt(3 / fan_of(a, fan));
    fill_uniform(a, draw, -bound, bound);
  };
}

Initializer kaiming_normal(double slope, Fan fan) {
  return [slope, fan](Array& a, Draw draw) {
    fill_normal(a, draw, 0, leaky_relu_gain(slope) / std::sqrt(fan_of(a, fan)));
  };
}

Initializer xavier_uniform(double gain) {
  return [gain](Array& a, Draw draw) {
    const Fans f = fans_of(a);
    const double bound = gain * std::sqrt(6 / (f.in + f.out));
    fill_uniform(a, draw, -bound, bound);
  };
}

Initializer xavier_normal(double gain) {
  return [gain](Array& a, Draw draw) {
    const Fans f = fans_of(a);
    fill_normal(a, draw, 0, gain * std::sqrt(2 / (f.in + f.out)));
  };
}

}  // namespace tightloop::nn::init
