// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/tightloop.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

/// Handwritten digits of 8 x 8 pixels (Debian's python3-sklearn), each somewhere in a noisy picture: those of
/// first .. first + 4, from the `skip`-th of each on and at most `each` of it, `times` over. Fields: image
/// u8[rows, 16, 16] of 0 .. 16, and label i64[rows] of 0 .. 4.
inline tightloop::data::Dataset digit_pictures(int first, int skip, int each, int times) {
  using tightloop::Array;
  // 64 pixels, and the digit.
  static const Array table =
      tightloop::data::read_csv("/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz", {"*"});
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  std::vector<int> met(5, 0);
  for (std::int64_t row = 0; row < table.dims()[0]; ++row) {
    const int label = int(table.at(65 * row + 64)) - first;
    if (label < 0 || label > 4) continue;
    const int number = met[std::size_t(label)]++;
    if (number < skip || number >= skip + each) continue;
    for (int k = 0; k < times; ++k) {
      const int top = int(random() % 9), left = int(random() % 9);
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          const bool inside = y >= top && y < top + 8 && x >= left && x < left + 8;
          const double ink = inside ? table.at(65 * row + 8 * (y - top) + x - left) : 0;
          pixels.push_back(std::uint8_t(std::max<double>(ink, random() % 6)));
        }
      labels.push_back(label);
    }
  }
  const auto n = std::int64_t(labels.size());
  return tightloop::data::Dataset({{"image", Array::of<std::uint8_t>({n, 16, 16}, pixels)},
                                   {"label", Array::of<std::int64_t>({n}, labels)}});
}
