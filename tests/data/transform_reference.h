// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every transform of images in plain C++, one image at a time, and cases to hold the compiled ones against.
#include <tightloop/base/random.h>
#include <tightloop/data/transforms/transform.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace tightloop::data::testing {

constexpr std::uint64_t kSeed = 77;

struct Image {
  std::int64_t channels = 1, height = 0, width = 0;
  std::vector<double> v;
  Image(std::int64_t c, std::int64_t h, std::int64_t w)
      : channels(c), height(h), width(w), v(static_cast<std::size_t>(c * h * w)) {}
  double& at(std::int64_t c, std::int64_t y, std::int64_t x) {
    return v[static_cast<std::size_t>((c * height + y) * width + x)];
  }
  double at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return v[static_cast<std::size_t>((c * height + y) * width + x)];
  }
  bool has(std::int64_t y, std::int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }
};

/// The numbers of one sample, in the order in which a transform draws them.
struct Uniform {
  std::uint64_t epoch, sample;
  std::int64_t k = 0;
  float next() {
    const auto stream = static_cast<std::uint32_t>(0x74720000 + k / 4);
    return uniform_f32(philox_block(kSeed, stream, epoch, sample)[static_cast<std::size_t>(k++ % 4)]);
  }
  float next(double low, double high) {
    return next() * static_cast<float>(high - low) + static_cast<float>(low);
  }
  std::int64_t below(std::int64_t n) {
    return std::min(static_cast<std::int64_t>(next() * static_cast<float>(n)), n - 1);
  }
};

inline Image resized(const Image& in, std::int64_t top, std::int64_t left, std::int64_t tall,
                     std::int64_t wide, std::int64_t height, std::int64_t width, bool nearest) {
  Image out(in.channels, height, width);
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        if (nearest) {
          out.at(c, y, x) = in.at(c, top + y * tall / height, left + x * wide / width);
          continue;
        }
        const double sy = std::clamp((y + 0.5) * tall / height - 0.5, 0.0, tall - 1.0);
        const double sx = std::clamp((x + 0.5) * wide / width - 0.5, 0.0, wide - 1.0);
        const auto y0 = static_cast<std::int64_t>(sy), x0 = static_cast<std::int64_t>(sx);
        const std::int64_t y1 = std::min(y0 + 1, tall - 1), x1 = std::min(x0 + 1, wide - 1);
        const double dy = sy - y0, dx = sx - x0;
        const auto p = [&](std::int64_t b, std::int64_t a) { return in.at(c, top + b, left + a); };
        out.at(c, y, x) =
            (p(y0, x0) * (1 - dx) + p(y0, x1) * dx) * (1 - dy) + (p(y1, x0) * (1 - dx) + p(y1, x1) * dx) * dy;
      }
  return out;
}

inline Image cropped(const Image& in, std::int64_t top, std::int64_t left, std::int64_t height,
                     std::int64_t width, double fill = 0) {
  Image out(in.channels, height, width);
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        out.at(c, y, x) = in.has(top + y, left + x) ? in.at(c, top + y, left + x) : fill;
  return out;
}

struct Box {
  std::int64_t height = 0, width = 0;
  bool found = false;
};

inline Box draw_box(const Image& in, Numbers scale, Numbers ratio, bool strictly, Uniform& u) {
  Box out;
  for (int i = 0; i < 10; ++i) {
    const double area = u.next(scale[0], scale[1]) * static_cast<double>(in.height * in.width);
    const double aspect = std::exp(static_cast<double>(u.next(std::log(ratio[0]), std::log(ratio[1]))));
    const auto w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * aspect)));
    const auto h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / aspect)));
    const std::int64_t less = strictly ? 1 : 0;
    if (!out.found && w >= 1 && h >= 1 && w <= in.width - less && h <= in.height - less) out = {h, w, true};
  }
  return out;
}

inline Image with_box(const Image& in, std::int64_t top, std::int64_t left, std::int64_t h, std::int64_t w,
                      double value) {
  Image out = in;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = top; y < top + h; ++y)
      for (std::int64_t x = left; x < left + w; ++x)
        if (in.has(y, x)) out.at(c, y, x) = value;
  return out;
}

inline Image flipped(const Image& in, bool sideways) {
  Image out = in;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x)
        out.at(c, y, x) = sideways ? in.at(c, y, in.width - 1 - x) : in.at(c, in.height - 1 - y, x);
  return out;
}

inline Image turned(const Image& in, double degrees, double fill) {
  Image out = in;
  const double t = degrees * M_PI / 180, my = (in.height - 1) / 2.0, mx = (in.width - 1) / 2.0;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x) {
        const double dx = x - mx, dy = y - my;
        const auto sy = static_cast<std::int64_t>(std::nearbyint(std::sin(t) * dx + std::cos(t) * dy + my));
        const auto sx = static_cast<std::int64_t>(std::nearbyint(std::cos(t) * dx - std::sin(t) * dy + mx));
        out.at(c, y, x) = in.has(sy, sx) ? in.at(c, sy, sx) : fill;
      }
  return out;
}

inline double gray(const Image& in, std::int64_t y, std::int64_t x) {
  if (in.channels == 1) return in.at(0, y, x);
  return 0.2989 * in.at(0, y, x) + 0.587 * in.at(1, y, x) + 0.114 * in.at(2, y, x);
}

/// Through HSV as torchvision writes it.
inline void turn_hue(double* r, double* g, double* b, double by) {
  const double most = std::max({*r, *g, *b}), chroma = most - std::min({*r, *g, *b});
  if (chroma == 0) return;
  double h = *r == most ? (*g - *b) / chroma : *g == most ? 2 + (*b - *r) / chroma : 4 + (*r - *g) / chroma;
  h = std::fmod(h / 6 + by + 2, 1.0) * 6;
  const auto sector = static_cast<int>(h) % 6;
  const double f = h - std::floor(h), p = most - chroma, q = most - chroma * f, t = most - chroma * (1 - f);
  const double table[6][3] = {{most, t, p}, {q, most, p}, {p, most, t},
                              {p, q, most}, {t, p, most}, {most, p, q}};
  *r = table[sector][0], *g = table[sector][1], *b = table[sector][2];
}

inline Image jittered(const Image& in, Uniform& u) {
  Image out = in;
  const auto each = [&](const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& f) {
    Image next = out;
    for (std::int64_t c = 0; c < in.channels; ++c)
      for (std::int64_t y = 0; y < in.height; ++y)
        for (std::int64_t x = 0; x < in.width; ++x) next.at(c, y, x) = std::clamp(f(c, y, x), 0.0, 255.0);
    out = next;
  };
  const double brightness = u.next(0.5, 1.5), contrast = u.next(0.6, 1.4);
  each([&](auto c, auto y, auto x) { return out.at(c, y, x) * brightness; });
  double mean = 0;
  for (std::int64_t y = 0; y < in.height; ++y)
    for (std::int64_t x = 0; x < in.width; ++x)
      mean += gray(out, y, x) / static_cast<double>(in.height * in.width);
  each([&](auto c, auto y, auto x) { return out.at(c, y, x) * contrast + mean * (1 - contrast); });
  if (in.channels != 3) return out;
  const double saturation = u.next(0.7, 1.3), hue = u.next(-0.2, 0.2);
  each([&](auto c, auto y, auto x) {
    return out.at(c, y, x) * saturation + gray(out, y, x) * (1 - saturation);
  });
  for (std::int64_t y = 0; y < in.height; ++y)
    for (std::int64_t x = 0; x < in.width; ++x)
      turn_hue(&out.at(0, y, x), &out.at(1, y, x), &out.at(2, y, x), hue);
  return out;
}

inline Image blend(const Image& a, const Image& b, double share) {
  Image out = a;
  for (std::size_t i = 0; i < a.v.size(); ++i) out.v[i] = a.v[i] * share + b.v[i] * (1 - share);
  return out;
}

inline Image pasted(const Image& a, const Image& b, double drawn, Uniform& u, double& share) {
  u.k = 2;
  const double r = std::sqrt(1 - drawn);
  std::int64_t from[2], to[2];
  const std::int64_t size[2] = {a.height, a.width};
  for (int d = 0; d < 2; ++d) {
    const std::int64_t middle = u.below(size[d]);
    const auto half = static_cast<std::int64_t>(0.5 * r * static_cast<double>(size[d]));
    from[d] = std::max<std::int64_t>(middle - half, 0), to[d] = std::min(middle + half, size[d]);
  }
  Image out = a;
  for (std::int64_t c = 0; c < a.channels; ++c)
    for (std::int64_t y = from[0]; y < to[0]; ++y)
      for (std::int64_t x = from[1]; x < to[1]; ++x) out.at(c, y, x) = b.at(c, y, x);
  share = 1 - static_cast<double>((to[0] - from[0]) * (to[1] - from[1])) /
                  static_cast<double>(a.height * a.width);
  return out;
}

struct Case {
  const char* name;
  Options options;
  std::int64_t channels;
  std::function<Image(const Image&, const Image& partner, Uniform&, double& share)> reference;
};

inline std::vector<Case> cases() {
  const auto plain = [](auto f) {
    return [f](const Image& in, const Image&, Uniform& u, double&) { return f(in, u); };
  };
  std::vector<Case> out;
  for (const bool nearest : {false, true}) {
    const std::string how = nearest ? "nearest" : "bilinear";
    out.push_back({"resize",
                   {{"size", Numbers{20, 9}}, {"interpolation", how}},
                   3,
                   plain([=](const Image& in, Uniform&) {
                     return resized(in, 0, 0, in.height, in.width, 20, 9, nearest);
                   })});
  }
  out.push_back({"resize", {{"size", Numbers{8}}}, 0, plain([](const Image& in, Uniform&) {
                   return resized(in, 0, 0, in.height, in.width, 8, 9, false);
                 })});
  out.push_back({"center_crop", {{"size", Numbers{7, 16}}}, 3, plain([](const Image& in, Uniform&) {
                   return cropped(in, 2, -1, 7, 16);
                 })});
  out.push_back({"random_crop",
                 {{"size", Numbers{9}}, {"padding", Numbers{2, 3}}, {"fill", 9.0}},
                 3,
                 plain([](const Image& in, Uniform& u) {
                   const auto top = u.below(in.height + 6 - 9 + 1) - 3,
                              left = u.below(in.width + 4 - 9 + 1) - 2;
                   return cropped(in, top, left, 9, 9, 9);
                 })});
  out.push_back({"random_resized_crop", {{"size", Numbers{8, 10}}}, 3, plain([](const Image& in, Uniform& u) {
                   Box b = draw_box(in, {0.08, 1}, {3.0 / 4, 4.0 / 3}, false, u);
                   EXPECT_TRUE(b.found);
                   const auto top = u.below(in.height - b.height + 1), left = u.below(in.width - b.width + 1);
                   return resized(in, top, left, b.height, b.width, 8, 10, false);
                 })});
  for (const bool sideways : {true, false})
    out.push_back(
        {sideways ? "horizontal_flip" : "vertical_flip",
         {},
         sideways ? 0 : 3,
         plain([=](const Image& in, Uniform& u) { return u.next() < 0.5f ? flipped(in, sideways) : in; })});
  out.push_back(
      {"rotation", {{"degrees", Numbers{170}}, {"fill", 3.0}}, 3, plain([](const Image& in, Uniform& u) {
         return turned(in, u.next(-170, 170), 3);
       })});
  out.push_back({"normalize",
                 {{"mean", Numbers{0.5, 0.4, 0.3}}, {"std", Numbers{0.2, 0.25, 2}}},
                 3,
                 plain([](const Image& in, Uniform&) {
                   Image next = in;
                   const double mean[3] = {0.5, 0.4, 0.3}, std[3] = {0.2, 0.25, 2};
                   for (std::int64_t c = 0; c < 3; ++c)
                     for (std::int64_t y = 0; y < in.height; ++y)
                       for (std::int64_t x = 0; x < in.width; ++x)
                         next.at(c, y, x) = (in.at(c, y, x) / 255 - mean[c]) / std[c];
                   return next;
                 })});
  const Options jitter{{"brightness", Numbers{0.5}},
                       {"contrast", Numbers{0.4}},
                       {"saturation", Numbers{0.3}},
                       {"hue", Numbers{0.2}}};
  for (const std::int64_t channels : {0, 3})
    out.push_back({"color_jitter", jitter, channels, plain(jittered)});
  out.push_back({"random_erasing", {{"value", 5.0}}, 3, plain([](const Image& in, Uniform& u) {
                   const bool chosen = u.next() < 0.5f;
                   const Box b = draw_box(in, {0.02, 0.33}, {0.3, 3.3}, true, u);
                   const auto top = u.below(in.height - b.height + 1), left = u.below(in.width - b.width + 1);
                   return chosen && b.found ? with_box(in, top, left, b.height, b.width, 5) : in;
                 })});
  out.push_back(
      {"cutout", {{"size", Numbers{4, 5}}, {"value", 1.0}}, 3, plain([](const Image& in, Uniform& u) {
         u.next();
         const auto top = u.below(in.height) - 2, left = u.below(in.width) - 2;
         return with_box(in, top, left, 4, 5, 1);
       })});
  out.push_back({"mixup", {}, 3, [](const Image& a, const Image& b, Uniform& u, double& share) {
                   share = u.next();
                   return blend(a, b, share);
                 }});
  out.push_back({"cutmix", {}, 3, [](const Image& a, const Image& b, Uniform& u, double& share) {
                   return pasted(a, b, u.next(), u, share);
                 }});
  return out;
}

constexpr std::int64_t kRows = 40, kHeight = 11, kWidth = 13;

inline Array pictures(std::int64_t channels) {
  std::vector<std::int64_t> dims{kRows, kHeight, kWidth};
  if (channels > 0) dims.insert(dims.begin() + 1, channels);
  Array a(DType::u8, dims);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const auto words = philox_block(1, 2, 3, static_cast<std::uint64_t>(i));
    a.set_int(i, words[0] % 256);
  }
  return a;
}

inline Image picture(const Array& all, std::int64_t row) {
  Image out(all.rank() == 4 ? all.dims()[1] : 1, kHeight, kWidth);
  const std::int64_t size = static_cast<std::int64_t>(out.v.size());
  for (std::int64_t i = 0; i < size; ++i) out.v[static_cast<std::size_t>(i)] = all.at(row * size + i);
  return out;
}

inline std::int64_t partner(std::int64_t row) { return (row * 7 + 3) % kRows; }

}  // namespace tightloop::data::testing
