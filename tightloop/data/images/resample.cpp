// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/images/resample.h>
#include <tightloop/data/images/vector_clones.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tightloop::data {
namespace {

constexpr int kBits = 22;  ///< of a weight

using Lanes = std::int32_t __attribute__((vector_size(16)));

TIGHTLOOP_VECTOR_CLONES
void widen(const std::uint8_t* in, std::int64_t count, std::int32_t* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i];
}

TIGHTLOOP_VECTOR_CLONES
void narrow(const std::int32_t* sums, std::int64_t count, std::uint8_t* out) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint8_t>(std::min(sums[i] >> kBits, 255));
}

/// Where a pixel's taps begin in a row, and their weights.
struct PixelTaps {
  std::int64_t first, count;
  const std::int32_t* weights;
};

/// Results side by side, all channels of one at once; up to three numbers beyond both rows are touched.
TIGHTLOOP_VECTOR_CLONES
void across(const std::int32_t* in, std::int64_t channels, const PixelTaps* taps, std::size_t count,
            std::int32_t* out) {
  constexpr std::int32_t kHalf = 1 << (kBits - 1);
  for (std::size_t i = 0; i < count; ++i, out += channels) {
    const std::int32_t* p = in + taps[i].first;
    Lanes sum = {kHalf, kHalf, kHalf, kHalf};
    for (std::int64_t k = 0; k < taps[i].count; ++k, p += channels) {
      Lanes pixel;
      std::memcpy(&pixel, p, sizeof(pixel));
      sum += pixel * taps[i].weights[k];
    }
    std::memcpy(out, &sum, sizeof(sum));
  }
}

/// The sum of `count` rows.
TIGHTLOOP_VECTOR_CLONES
void down(const std::uint8_t* rows, std::int64_t stride, const std::int32_t* weights, std::int64_t count,
          std::int64_t width, std::int32_t* out) {
  for (std::int64_t x = 0; x < width; ++x) out[x] = 1 << (kBits - 1);
  for (std::int64_t k = 0; k < count; ++k, rows += stride)
    for (std::int64_t x = 0; x < width; ++x) out[x] += rows[x] * weights[k];
}

/// The same for images of 16 bits, which are rare.
void widen(const std::uint16_t* in, std::int64_t count, std::int64_t* out) { std::copy_n(in, count, out); }

void narrow(const std::int64_t* sums, std::int64_t count, std::uint16_t* out) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint16_t>(std::min<std::int64_t>(sums[i] >> kBits, 65535));
}

void across(const std::int64_t* in, std::int64_t channels, const PixelTaps* taps, std::size_t count,
            std::int64_t* out) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::int64_t c = 0; c < channels; ++c) {
      std::int64_t sum = 1 << (kBits - 1);
      for (std::int64_t k = 0; k < taps[i].count; ++k)
        sum += in[taps[i].first + k * channels + c] * taps[i].weights[k];
      *out++ = sum;
    }
}

void down(const std::uint16_t* rows, std::int64_t stride, const std::int32_t* weights, std::int64_t count,
          std::int64_t width, std::int64_t* out) {
  std::fill_n(out, width, std::int64_t{1} << (kBits - 1));
  for (std::int64_t k = 0; k < count; ++k, rows += stride)
    for (std::int64_t x = 0; x < width; ++x) out[x] += std::int64_t{rows[x]} * weights[k];
}

template <class T>
struct Sums;
template <>
struct Sums<std::uint8_t> {
  using Type = std::int32_t;
};
template <>
struct Sums<std::uint16_t> {
  using Type = std::int64_t;
};

bool is_whole(double x) { return x == std::floor(x); }

bool keeps_size(const Framing& f) {
  return f.box.height == static_cast<double>(f.height) && f.box.width == static_cast<double>(f.width) &&
         is_whole(f.box.top) && is_whole(f.box.left);
}

/// The pixel of the window at which what is shown begins, and the numbers in one of its rows.
template <class T>
T* place_in(Image& out, const Framing& f, const Region& shown) {
  return reinterpret_cast<T*>(out.bytes.data()) +
         ((shown.top - f.top) * out.width + shown.left - f.left) * out.channels;
}

}  // namespace

Resampling::Axis Resampling::weigh(std::int64_t begin, std::int64_t end, double start, double length,
                                   std::int64_t size, std::int64_t first, std::int64_t count) {
  const double scale = length / static_cast<double>(size), reach = std::max(scale, 1.0);
  Axis axis;
  axis.taps.reserve(static_cast<std::size_t>(count));
  std::vector<double> weights;
  for (std::int64_t i = first; i < first + count; ++i) {
    const double center = start + (static_cast<double>(i) + 0.5) * scale;
    const auto low =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(center - reach + 0.5), begin, end - 1);
    const auto high = std::clamp<std::int64_t>(static_cast<std::int64_t>(center + reach + 0.5), low + 1, end);
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
  }
  return axis;
}

Resampling::Resampling(const Framing& f, std::int64_t height, std::int64_t width)
    : framing_(f), copies_(keeps_size(f)) {
  shown_.top = std::clamp<std::int64_t>(f.top, 0, f.height);
  shown_.left = std::clamp<std::int64_t>(f.left, 0, f.width);
  shown_.height = std::max<std::int64_t>(0, std::min(f.top + f.window_height, f.height) - shown_.top);
  shown_.width = std::max<std::int64_t>(0, std::min(f.left + f.window_width, f.width) - shown_.left);
  if (shown_.height == 0 || shown_.width == 0) {
    shown_ = {};
  } else if (copies_) {
    needed_ = {static_cast<std::int64_t>(f.box.top) + shown_.top,
               static_cast<std::int64_t>(f.box.left) + shown_.left, shown_.height, shown_.width};
  } else {
    const auto first = [&](double start) { return f.cut_out ? static_cast<std::int64_t>(start) : 0; };
    const auto end = [&](double start, double length, std::int64_t side) {
      return f.cut_out ? std::min(side, static_cast<std::int64_t>(std::ceil(start + length))) : side;
    };
    const Box& b = f.box;
    rows_ = weigh(first(b.top), end(b.top, b.height, height), b.top, b.height, f.height, shown_.top,
                  shown_.height);
    columns_ = weigh(first(b.left), end(b.left, b.width, width), b.left, b.width, f.width, shown_.left,
                     shown_.width);
    const Taps &top = rows_.taps.front(), &bottom = rows_.taps.back();
    const Taps &left = columns_.taps.front(), &right = columns_.taps.back();
    needed_ = {top.first, left.first, bottom.first + bottom.count - top.first,
               right.first + right.count - left.first};
  }
}

template <class T>
void Resampling::copy(const Image& part, const Region& place, Image& out) const {
  const T* in = reinterpret_cast<const T*>(part.bytes.data()) +
                ((needed_.top - place.top) * part.width + needed_.left - place.left) * part.channels;
  T* to = place_in<T>(out, framing_, shown_);
  for (std::int64_t y = 0; y < shown_.height; ++y)
    std::copy_n(in + y * part.width * part.channels, shown_.width * part.channels,
                to + y * out.width * out.channels);
}

template <class T>
void Resampling::resize(const Image& part, const Region& place, Image& out) const {
  using Sum = typename Sums<T>::Type;
  const std::int64_t channels = part.channels, width = shown_.width * channels;
  thread_local std::vector<T> middle;
  thread_local std::vector<Sum> row, sums;
  thread_local std::vector<PixelTaps> taps;
  middle.resize(static_cast<std::size_t>(needed_.height * width));
  row.resize(static_cast<std::size_t>(needed_.width * channels) + 3);
  sums.resize(static_cast<std::size_t>(width) + 3);
  taps.clear();
  for (const Taps& t : columns_.taps)
    taps.push_back({(t.first - needed_.left) * channels, t.count, columns_.weights.data() + t.weights});
  const T* in = reinterpret_cast<const T*>(part.bytes.data()) +
                ((needed_.top - place.top) * part.width + needed_.left - place.left) * channels;
  for (std::int64_t y = 0; y < needed_.height; ++y, in += part.width * channels) {
    widen(in, needed_.width * channels, row.data());
    across(row.data(), channels, taps.data(), taps.size(), sums.data());
    narrow(sums.data(), width, middle.data() + y * width);
  }
  T* to = place_in<T>(out, framing_, shown_);
  for (const Taps& t : rows_.taps) {
    down(middle.data() + (t.first - needed_.top) * width, width, rows_.weights.data() + t.weights, t.count,
         width, sums.data());
    narrow(sums.data(), width, to);
    to += out.width * channels;
  }
}

void Resampling::make(const Image& part, const Region& place, Image& out) const {
  out.become(framing_.window_height, framing_.window_width, part.channels, part.depth);
  if (shown_.height < out.height || shown_.width < out.width)
    std::fill(out.bytes.begin(), out.bytes.end(), std::uint8_t{0});
  if (shown_.height == 0) return;
  if (copies_)
    part.depth == 8 ? copy<std::uint8_t>(part, place, out) : copy<std::uint16_t>(part, place, out);
  else
    part.depth == 8 ? resize<std::uint8_t>(part, place, out) : resize<std::uint16_t>(part, place, out);
}

Image resample(const Image& image, const Framing& framing) {
  Image out;
  Resampling(framing, image.height, image.width).make(image, {0, 0, image.height, image.width}, out);
  return out;
}

}  // namespace tightloop::data
