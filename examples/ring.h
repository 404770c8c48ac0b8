// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/tightloop.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

/// Eight clouds of points on a ring of radius 2, each with a standard deviation of 0.1.
namespace ring {

constexpr int kClouds = 8;
constexpr double kSpread = 0.1;

inline std::array<double, 2> centre(int cloud) {
  const double angle = 2 * std::numbers::pi * cloud / kClouds;
  return {2 * std::cos(angle), 2 * std::sin(angle)};
}

/// [rows, 2], the same number from each cloud.
inline tightloop::Array points(std::int64_t rows) {
  tightloop::Array out = (tightloop::Generator(1).normal({rows, 2}) * kSpread).array().clone();
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set(i, out.at(i) + centre(int(i / 2 % kClouds))[std::size_t(i % 2)]);
  return out;
}

struct Score {
  int covered = 0;    ///< clouds that have at least a quarter of their share of the points
  double inside = 0;  ///< share of the points that lie within three deviations of a centre
};

inline Score score(const tightloop::Array& points) {
  const std::int64_t rows = points.dims()[0];
  Score out;
  for (int cloud = 0; cloud < kClouds; ++cloud) {
    const auto [x, y] = centre(cloud);
    std::int64_t hits = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      hits += std::hypot(points.at(2 * i) - x, points.at(2 * i + 1) - y) < 3 * kSpread;
    out.covered += hits > rows / kClouds / 4;
    out.inside += double(hits) / double(rows);
  }
  return out;
}

}  // namespace ring
