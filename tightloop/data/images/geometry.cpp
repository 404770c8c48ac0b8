// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/images/geometry.h>
#include <tightloop/data/transforms/draws.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tightloop::data {
namespace {

constexpr std::int64_t kLargestSide = 1 << 16;

const std::array kSize{OptionSpec{"size", OptionType::sizes, {}, "height and width, or one number", true}};
const std::array kRandom{
    OptionSpec{"size", OptionType::sizes, {}, "height and width, or one number for both", true},
    OptionSpec{"scale", OptionType::list, Numbers{0.08, 1}, "least and most part of the area"},
    OptionSpec{"ratio", OptionType::list, Numbers{3. / 4, 4. / 3}, "least and most width / height"},
};

struct Named {
  std::string_view name;
  Geometry::Kind kind;
  std::span<const OptionSpec> specs;
};
const std::array kNames{
    Named{"resize", Geometry::Kind::resize, kSize},
    Named{"center_crop", Geometry::Kind::center_crop, kSize},
    Named{"random_resized_crop", Geometry::Kind::random_resized_crop, kRandom},
};

std::int64_t side(const std::string& name, double value) {
  if (!(value >= 1 && value <= kLargestSide) || value != std::floor(value))
    throw Error(name + ": size must be whole numbers from 1 to " + std::to_string(kLargestSide));
  return static_cast<std::int64_t>(value);
}

void read_range(const std::string& owner, const Numbers& range, double most, double& low, double& high) {
  if (range.size() != 2 || !(range[0] > 0) || !(range[0] <= range[1]) || !(range[1] <= most))
    throw Error(owner + " must be two numbers over 0" + (most == 1 ? " and at most 1" : "") +
                ", the smaller one first");
  low = range[0], high = range[1];
}

/// Python's round(): halves go to the even neighbour.
std::int64_t round_half_even(double x) { return static_cast<std::int64_t>(std::nearbyint(x)); }

Framing whole(std::int64_t height, std::int64_t width) {
  return {.box = {0, 0, static_cast<double>(height), static_cast<double>(width)},
          .height = height,
          .width = width,
          .window_height = height,
          .window_width = width};
}

void resize(const Geometry& g, Framing& f) {
  if (g.width > 0)
    f.height = g.height, f.width = g.width;
  else if (f.height <= f.width)
    f.width = g.height * f.width / f.height, f.height = g.height;
  else
    f.height = g.height * f.height / f.width, f.width = g.height;
  f.height = std::clamp<std::int64_t>(f.height, 1, kLargestSide),
  f.width = std::clamp<std::int64_t>(f.width, 1, kLargestSide);
  f.window_height = f.height, f.window_width = f.width;
}

std::int64_t crop_start(std::int64_t have, std::int64_t want) {
  return have < want ? -((want - have) / 2) : round_half_even(static_cast<double>(have - want) / 2.0);
}

void center_crop(const Geometry& g, Framing& f) {
  f.top = crop_start(f.height, g.height), f.left = crop_start(f.width, g.width);
  f.window_height = g.height, f.window_width = g.width;
}

Box random_box(const Geometry& g, std::int64_t height, std::int64_t width, const SampleKey& key,
               std::int64_t number) {
  SampleDraws draws(key, number, 0);  // in decoding it is the first of its list
  const auto area = static_cast<float>(height * width);
  std::int64_t w = 0, h = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const float part = draws.uniform(g.least_area, g.most_area) * area;
    const float shape = std::exp(draws.uniform(std::log(g.least_ratio), std::log(g.most_ratio)));
    if (w > 0) continue;  // the places come after all tries
    w = round_half_even(std::sqrt(part * shape)), h = round_half_even(std::sqrt(part / shape));
    if (w < 1 || h < 1 || w > width || h > height) w = 0;
  }
  if (w > 0) {
    const std::int64_t top = draws.whole(height - h + 1), left = draws.whole(width - w + 1);
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(h),
            static_cast<double>(w)};
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  w = width, h = height;
  if (ratio < g.least_ratio)
    h = std::clamp<std::int64_t>(round_half_even(static_cast<double>(w) / g.least_ratio), 1, height);
  else if (ratio > g.most_ratio)
    w = std::clamp<std::int64_t>(round_half_even(static_cast<double>(h) * g.most_ratio), 1, width);
  return {static_cast<double>((height - h) / 2), static_cast<double>((width - w) / 2), static_cast<double>(h),
          static_cast<double>(w)};
}

}  // namespace

bool is_geometry(std::string_view name) {
  return std::any_of(kNames.begin(), kNames.end(), [&](const Named& n) { return n.name == name; });
}

Geometry make_geometry(const std::string& name, const Options& given) {
  const auto* named =
      std::find_if(kNames.begin(), kNames.end(), [&](const Named& n) { return n.name == name; });
  require(named != kNames.end(), "make_geometry: no such transform");
  const Options options = resolve(name, given, named->specs);
  const Numbers& size = options.at<Numbers>("size");
  if (size.empty() || size.size() > 2)
    throw Error(name + ": size must be one number or two, height and width");
  Geometry g{named->kind, side(name, size[0]), 0};
  if (size.size() == 2 || g.kind != Geometry::Kind::resize) g.width = side(name, size.back());
  if (g.kind != Geometry::Kind::random_resized_crop) return g;
  read_range(name + ": scale", options.at<Numbers>("scale"), 1, g.least_area, g.most_area);
  read_range(name + ": ratio", options.at<Numbers>("ratio"), 1e6, g.least_ratio, g.most_ratio);
  return g;
}

std::size_t leading_geometries(std::span<const std::string> names) {
  if (names.empty() || !is_geometry(names[0])) return 0;
  return names[0] == "resize" && names.size() > 1 && names[1] == "center_crop" ? 2 : 1;
}

bool is_random(const Geometries& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Geometry& g) { return g.kind == Geometry::Kind::random_resized_crop; });
}

Framing frame(const Geometries& steps, std::int64_t height, std::int64_t width, const SampleKey& key,
              std::int64_t number) {
  Framing f = whole(height, width);
  for (const Geometry& g : steps) {
    if (g.kind == Geometry::Kind::random_resized_crop)
      f.box = random_box(g, height, width, key, number), f.cut_out = true;
    if (g.kind == Geometry::Kind::center_crop)
      center_crop(g, f);
    else
      resize(g, f);
  }
  return f;
}

std::optional<std::pair<std::int64_t, std::int64_t>> fixed_size(const Geometries& steps) {
  if (steps.empty() || steps.back().width == 0) return std::nullopt;
  return std::pair{steps.back().height, steps.back().width};
}

}  // namespace tightloop::data
