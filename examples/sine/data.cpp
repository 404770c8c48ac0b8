// SPDX-License-Identifier: Apache-2.0
// Writes x.npy, 16 steps of a wave, and y.npy, the number that follows, into the folder given (or here).
#include <tightloop/tightloop.h>

#include <cmath>
#include <string>

namespace tl = tightloop;

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
  const std::int64_t rows = 2000, steps = 16;
  tl::Array x(tl::DType::f32, {rows, steps, 1}), y(tl::DType::f32, {rows, 1});
  const auto wave = [](double t) { return std::sin(0.4 * t) + 0.5 * std::sin(0.13 * t + 1); };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t t = 0; t < steps; ++t) x.set(i * steps + t, wave(static_cast<double>(i + t)));
    y.set(i, wave(static_cast<double>(i + steps)));
  }
  tl::io::write_npy(folder + "x.npy", x);
  tl::io::write_npy(folder + "y.npy", y);
}
