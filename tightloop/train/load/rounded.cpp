// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>

namespace tightloop::train {
namespace {

constexpr float kWhole = 1 << 24;  ///< up to here f32 holds every whole number

/// Bits of numbers of one sign are in the order of the numbers, so that this is fast.
std::uint32_t largest_bits(std::span<const float> values) {
  std::uint32_t most = 0;
  for (const float v : values) most = std::max(most, std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
  return most;
}

/// The places among the columns that hold numbers of such a size.
std::vector<std::size_t> large_columns(std::span<const float> values, std::size_t columns) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t i = k; i < values.size(); i += columns)
      if (std::fabs(values[i]) >= kWhole) {
        out.push_back(k);
        break;
      }
  return out;
}

bool is_rounded(double v) {
  return std::fabs(v) < 0x1p63 && v == std::floor(v) && static_cast<double>(static_cast<float>(v)) != v;
}

}  // namespace

void note_rounded(const data::CsvFile& csv, const std::vector<std::size_t>& columns, const Array& values,
                  Request& request) {
  const auto all = values.as<float>();
  if (!request.first || largest_bits(all) < std::bit_cast<std::uint32_t>(kWhole)) return;
  for (const std::size_t k : large_columns(all, columns.size())) {
    const data::ColumnRequest exact{.columns = {columns[k]}, .dtype = DType::f64, .missing = true};
    const Array numbers = csv.read({&exact, 1})[0];
    const auto wide = numbers.as<double>();
    const auto at = std::find_if(wide.begin(), wide.end(), is_rounded);
    if (at == wide.end()) continue;
    request.notes.push_back(fmt::format(
        "{}: column '{}' holds whole numbers that f32 rounds (above 2^24): {:.0f} in row {} becomes {:.0f}; "
        "where they are ids or classes, make it a category in data.columns",
        csv.name(), csv.columns()[columns[k]], *at, at - wide.begin() + 1, static_cast<float>(*at)));
  }
}

}  // namespace tightloop::train
