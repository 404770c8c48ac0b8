// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace tightloop::io {

/// A PNG file (W3C PNG, third edition) of `pixels`: u8 [height, width, channels] with 1 (gray), 3 (RGB) or 4
/// (with alpha) channels. Throws Error for other numbers of them, and unless the sizes are that of `pixels`.
std::string encode_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                       std::int64_t channels);

}  // namespace tightloop::io
