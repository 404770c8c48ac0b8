// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/describe_images.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/images/reader.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kPixels = 1 << 20;  // larger ones are only slow
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    data::summary_of_image(bytes, "fuzz");
    const data::ImageHeader header = data::image_format(bytes, "fuzz").header(bytes, "fuzz");
    if (header.height * header.width > kPixels) return 0;
    data::ImageOptions options{.channels = size % 2 == 0 ? 3 : 4, .dtype = DType::f32};
    options.steps.push_back(data::make_geometry("random_resized_crop", {{"size", Numbers{5, 7}}}));
    const data::ImageReader reader(options, bytes, "fuzz");
    std::vector<float> out(4 * 5 * 7);
    reader.read(bytes, "fuzz", {1, 2}, static_cast<std::int64_t>(size),
                reinterpret_cast<std::byte*>(out.data()));
    for (const float v : out)
      if (!(v >= 0 && v <= 1)) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
