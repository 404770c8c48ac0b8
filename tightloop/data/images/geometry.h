// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/data/images/resample.h>
#include <tightloop/data/samples.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// A transform that is done while an image is decoded, by the name and arguments that data.transforms gives
/// it. Its results have one size, or it is `resize` with one number.
struct Geometry {
  enum class Kind : std::uint8_t { resize, center_crop, random_resized_crop };
  Kind kind = Kind::resize;
  std::int64_t height = 0;
  std::int64_t width = 0;                   ///< 0, for resize alone: the shorter side becomes `height` long
  double least_area = 0.08, most_area = 1;  ///< random_resized_crop: parts of the image's area
  double least_ratio = 3. / 4, most_ratio = 4. / 3;  ///< random_resized_crop: width / height
};

/// Whether a transform of this name can be done in decoding.
bool is_geometry(std::string_view name);
/// Throws Error on options that `name` does not have or that make no sense.
Geometry make_geometry(const std::string& name, const Options& options);

/// What can be done in decoding: nothing, one Geometry, or a resize and a center_crop.
using Geometries = std::vector<Geometry>;
/// How many of the transforms at the head of the list can.
std::size_t leading_geometries(std::span<const std::string> names);
/// Whether every epoch sees other parts of the images.
bool is_random(const Geometries& steps);

/// What of an image of height × width is taken for sample `number` (torchvision's rules and rounding: the
/// shorter side of resize, the zeros around an image smaller than its center_crop, ten tries of
/// random_resized_crop, then the middle). Draws are those of the transform in the step (SampleDraws).
Framing frame(const Geometries& steps, std::int64_t height, std::int64_t width, const SampleKey& key,
              std::int64_t number);

/// Height and width of the results, when all images get the same.
std::optional<std::pair<std::int64_t, std::int64_t>> fixed_size(const Geometries& steps);

}  // namespace tightloop::data
