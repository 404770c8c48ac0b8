// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/images/resample.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tightloop::data {
namespace {

constexpr int kBits = 22;  ///< of a weight

/// The weights of one result: source pixels first .. first + count.
struct Taps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t weights = 0;  ///< where they begin in the list
};

/// What results first .. first + count along one axis are made of.
struct Axis {
  std::vector<Taps> taps;
  std::vector<std::int32_t> weights;
  std::int64_t begin = 0;  ///< source pixels that any of them needs
  std::int64_t end = 0;
};

Axis weigh(std::int64_t source, double start, double length, std::int64_t size, std::int64_t first,
           std::int64_t count) {
  const double scale = length / static_cast<double>(size), reach = std::max(scale, 1.0);
  Axis axis;
  axis.begin = source;
  std::vector<double> weights;
  for (std::int64_t i = first; i < first + count; ++i) {
    const double center = start + (static_cast<double>(i) + 0.5) * scale;
    const auto low = std::clamp<std::int64_t>(static_cast<std::int64_t>(center - reach + 0.5), 0, source - 1);
    const auto high =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(center + reach + 0.5), low + 1, source);
    weights.clear();
    double sum = 0;
    for (std::int64_t p = low; p < high; ++p) {
      const double away = std::fabs((static_cast<double>(p) - center + 0.5) / reach);
      weights.push_back(away < 1 ? 1 - away : 0);
      sum += weights.back();
    }
    axis.taps.push_back({low, high - low, axis.weights.size()});
    for (const double w : weights)
      axis.weights.push_back(static_cast<std::int32_t>(0.5 + (sum > 0 ? w / sum : 1.0) * (1 << kBits)));
    axis.begin = std::min(axis.begin, low);
    axis.end = std::max(axis.end, high);
  }
  return axis;
}

template <class T, class Sum>
T rounded(Sum sum) {
  const Sum value = (sum + (Sum{1} << (kBits - 1))) >> kBits;
  return static_cast<T>(std::clamp<Sum>(value, 0, static_cast<Sum>(static_cast<T>(~T{0}))));
}

template <class T, class Sum, int channels>
void along_row(const T* in, const Axis& axis, T* out) {
  for (const Taps& t : axis.taps) {
    Sum sum[channels] = {};
    const T* p = in + t.first * channels;
    for (std::int64_t k = 0; k < t.count; ++k, p += channels)
      for (int c = 0; c < channels; ++c)
        sum[c] += static_cast<Sum>(axis.weights[t.weights + static_cast<std::size_t>(k)]) * p[c];
    for (int c = 0; c < channels; ++c) *out++ = rounded<T>(sum[c]);
  }
}

template <class T, class Sum>
void along_row(int channels, const T* in, const Axis& axis, T* out) {
  switch (channels) {
    case 1:
      return along_row<T, Sum, 1>(in, axis, out);
    case 2:
      return along_row<T, Sum, 2>(in, axis, out);
    case 3:
      return along_row<T, Sum, 3>(in, axis, out);
    default:
      return along_row<T, Sum, 4>(in, axis, out);
  }
}

template <class T, class Sum>
void resize(const Image& image, const Axis& rows, const Axis& columns, Image& out) {
  const std::int64_t width = out.width * out.channels;
  std::vector<T> middle(static_cast<std::size_t>((rows.end - rows.begin) * width));
  const T* in = reinterpret_cast<const T*>(image.bytes.data());
  for (std::int64_t y = rows.begin; y < rows.end; ++y)
    along_row<T, Sum>(image.channels, in + y * image.width * image.channels, columns,
                      middle.data() + (y - rows.begin) * width);
  std::vector<Sum> sums(static_cast<std::size_t>(width));
  T* to = reinterpret_cast<T*>(out.bytes.data());
  for (const Taps& t : rows.taps) {
    std::fill(sums.begin(), sums.end(), Sum{0});
    for (std::int64_t k = 0; k < t.count; ++k) {
      const T* row = middle.data() + (t.first + k - rows.begin) * width;
      const auto weight = static_cast<Sum>(rows.weights[t.weights + static_cast<std::size_t>(k)]);
      for (std::int64_t x = 0; x < width; ++x) sums[static_cast<std::size_t>(x)] += weight * row[x];
    }
    for (const Sum sum : sums) *to++ = rounded<T>(sum);
  }
}

bool is_whole(double x) { return x == std::floor(x); }

bool keeps_size(const Framing& f) {
  return f.box.height == static_cast<double>(f.height) && f.box.width == static_cast<double>(f.width) &&
         is_whole(f.box.top) && is_whole(f.box.left);
}

/// Part of the image, as it is.
Image cropped(const Image& image, std::int64_t top, std::int64_t left, std::int64_t height,
              std::int64_t width) {
  Image out(height, width, image.channels, image.depth);
  const std::size_t pixel = image.row_bytes() / static_cast<std::size_t>(image.width);
  for (std::int64_t y = 0; y < height; ++y)
    std::memcpy(out.bytes.data() + static_cast<std::size_t>(y) * out.row_bytes(),
                image.bytes.data() + static_cast<std::size_t>(top + y) * image.row_bytes() +
                    static_cast<std::size_t>(left) * pixel,
                out.row_bytes());
  return out;
}

/// `inner` at (top, left) of zeros.
Image padded(const Image& inner, std::int64_t top, std::int64_t left, std::int64_t height,
             std::int64_t width) {
  Image out(height, width, inner.channels, inner.depth);
  const std::size_t pixel = out.row_bytes() / static_cast<std::size_t>(width);
  for (std::int64_t y = 0; y < inner.height; ++y)
    std::memcpy(out.bytes.data() + static_cast<std::size_t>(top + y) * out.row_bytes() +
                    static_cast<std::size_t>(left) * pixel,
                inner.bytes.data() + static_cast<std::size_t>(y) * inner.row_bytes(), inner.row_bytes());
  return out;
}

}  // namespace

Image resample(const Image& image, const Framing& f) {
  const std::int64_t top = std::clamp<std::int64_t>(f.top, 0, f.height),
                     left = std::clamp<std::int64_t>(f.left, 0, f.width);
  const std::int64_t height = std::max<std::int64_t>(0, std::min(f.top + f.window_height, f.height) - top);
  const std::int64_t width = std::max<std::int64_t>(0, std::min(f.left + f.window_width, f.width) - left);
  Image inner(0, 0, image.channels, image.depth);
  if (height > 0 && width > 0 && keeps_size(f)) {
    inner = cropped(image, static_cast<std::int64_t>(f.box.top) + top,
                    static_cast<std::int64_t>(f.box.left) + left, height, width);
  } else if (height > 0 && width > 0) {
    inner = Image(height, width, image.channels, image.depth);
    const Axis rows = weigh(image.height, f.box.top, f.box.height, f.height, top, height);
    const Axis columns = weigh(image.width, f.box.left, f.box.width, f.width, left, width);
    if (image.depth == 8)
      resize<std::uint8_t, std::int32_t>(image, rows, columns, inner);
    else
      resize<std::uint16_t, std::int64_t>(image, rows, columns, inner);
  }
  if (height == f.window_height && width == f.window_width) return inner;
  return padded(inner, top - f.top, left - f.left, f.window_height, f.window_width);
}

}  // namespace tightloop::data
