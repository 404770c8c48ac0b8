// SPDX-License-Identifier: Apache-2.0
// Every transform of the index against a plain C++ reference, image by image; and what holds for all: the
// same images for any batch, number of threads and order, others in each epoch, and nothing changed at p = 0.
#include <tests/support/files.h>
#include <tightloop/base/random.h>
#include <tightloop/data/dataset.h>
#include <tightloop/data/transforms/beta.h>
#include <tightloop/data/transforms/transform.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace tightloop::data {
namespace {

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

Image resized(const Image& in, std::int64_t top, std::int64_t left, std::int64_t tall, std::int64_t wide,
              std::int64_t height, std::int64_t width, bool nearest) {
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

Image cropped(const Image& in, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width,
              double fill = 0) {
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

Box draw_box(const Image& in, Numbers scale, Numbers ratio, bool strictly, Uniform& u) {
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

Image with_box(const Image& in, std::int64_t top, std::int64_t left, std::int64_t h, std::int64_t w,
               double value) {
  Image out = in;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = top; y < top + h; ++y)
      for (std::int64_t x = left; x < left + w; ++x)
        if (in.has(y, x)) out.at(c, y, x) = value;
  return out;
}

Image flipped(const Image& in, bool sideways) {
  Image out = in;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x)
        out.at(c, y, x) = sideways ? in.at(c, y, in.width - 1 - x) : in.at(c, in.height - 1 - y, x);
  return out;
}

Image turned(const Image& in, double degrees, double fill) {
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

double gray(const Image& in, std::int64_t y, std::int64_t x) {
  if (in.channels == 1) return in.at(0, y, x);
  return 0.2989 * in.at(0, y, x) + 0.587 * in.at(1, y, x) + 0.114 * in.at(2, y, x);
}

/// Through HSV as torchvision writes it.
void turn_hue(double* r, double* g, double* b, double by) {
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

Image jittered(const Image& in, Uniform& u) {
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

Image blend(const Image& a, const Image& b, double share) {
  Image out = a;
  for (std::size_t i = 0; i < a.v.size(); ++i) out.v[i] = a.v[i] * share + b.v[i] * (1 - share);
  return out;
}

Image pasted(const Image& a, const Image& b, double drawn, Uniform& u, double& share) {
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

std::vector<Case> cases() {
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

Array pictures(std::int64_t channels) {
  std::vector<std::int64_t> dims{kRows, kHeight, kWidth};
  if (channels > 0) dims.insert(dims.begin() + 1, channels);
  Array a(DType::u8, dims);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const auto words = philox_block(1, 2, 3, static_cast<std::uint64_t>(i));
    a.set_int(i, words[0] % 256);
  }
  return a;
}

Image picture(const Array& all, std::int64_t row) {
  Image out(all.rank() == 4 ? all.dims()[1] : 1, kHeight, kWidth);
  const std::int64_t size = static_cast<std::int64_t>(out.v.size());
  for (std::int64_t i = 0; i < size; ++i) out.v[static_cast<std::size_t>(i)] = all.at(row * size + i);
  return out;
}

struct Seen {
  std::vector<Array> images, shares;  ///< one a row of the data
};

std::int64_t partner(std::int64_t row) { return (row * 7 + 3) % kRows; }

/// A list of transforms compiled over some images.
class Compiled {
 public:
  Compiled(const Transforms& list, const Array& data, Backend backend = Backend::cpu, int threads = 1)
      : program_(Program::compile(traced(list, data), options(backend, threads))), mixes_(list.mixes()) {
    program_.set_seed(kSeed);
    program_.bind("data", data);
  }

  /// All images of one epoch.
  Seen epoch(std::int64_t number, std::int64_t batch = 16, bool shuffle = false) {
    const Sampling s{.rows = kRows, .batch = batch, .shuffle = shuffle, .seed = 5};
    Seen out{std::vector<Array>(kRows), std::vector<Array>(kRows)};
    for (std::int64_t step = 0; step < s.steps_per_epoch(); ++step) {
      program_.run(s, number * s.steps_per_epoch() + step, 1);
      const Array rows = program_.result("rows_seen").clone();
      for (std::int64_t i = 0; i < rows.count(); ++i) {
        const std::vector<std::int64_t> one{i};
        const auto row = static_cast<std::size_t>(rows.int_at(i));
        out.images[row] = take_rows(program_.result("images"), one);
        if (mixes_) out.shares[row] = take_rows(program_.result("share"), one);
      }
    }
    return out;
  }

 private:
  static CompileOptions options(Backend backend, int threads) {
    CompileOptions o;
    o.backend = backend;
    o.threads = threads;
    o.disk_cache = false;
    return o;
  }

  static ir::Graph traced(const Transforms& list, const Array& data) {
    std::vector<Dim> dims(data.dims().begin(), data.dims().end());
    dims[0] = Dim::rows();
    const TensorType number{DType::i64, {}};
    ir::Graph graph;
    graph.inputs = {input("data", "data", {data.dtype(), Shape(dims)}),
                    input("rows", "rows", {DType::i64, {Dim::batch()}}), input("seed", "seed", number),
                    input("epoch", "epoch", number)};
    Transforms::Source source{graph.inputs[2], graph.inputs[3], graph.inputs[1], graph.inputs[1], {}};
    Array partners(DType::i64, {kRows});
    for (std::int64_t r = 0; r < kRows; ++r) partners.set_int(r, partner(r));
    if (list.mixes()) source.partners = gather(Tensor(partners), graph.inputs[1]);
    const auto images = list.images("data", graph.inputs[0], source);
    graph.outputs = {{"rows_seen", graph.inputs[1] + 0.0}, {"images", images.values}};
    if (images.share.defined()) graph.outputs.push_back({"share", images.share});
    return graph;
  }

  Program program_;
  bool mixes_;
};

Transforms only(const Case& c) {
  Transforms out;
  out.add(c.name, c.options);
  return out;
}

TEST(Transforms, MeanWhatTheReferenceDoes) {
  for (const Case& c : cases())
    for (const Backend backend : {Backend::reference, Backend::cpu}) {
      const Array data = pictures(c.channels);
      const Seen seen = Compiled(only(c), data, backend).epoch(2);
      for (std::int64_t row = 0; row < kRows; ++row) {
        Uniform u{2, static_cast<std::uint64_t>(row)};
        double share = 0;
        const Image want = c.reference(picture(data, row), picture(data, partner(row)), u, share);
        const Array& got = seen.images[static_cast<std::size_t>(row)];
        ASSERT_EQ(got.count(), static_cast<std::int64_t>(want.v.size())) << c.name << got.type_string();
        EXPECT_EQ(got.rank(), c.channels == 0 ? 3u : 4u);
        for (std::int64_t i = 0; i < got.count(); ++i)
          ASSERT_NEAR(got.at(i), want.v[static_cast<std::size_t>(i)], 2e-3)
              << c.name << " row " << row << " element " << i << (backend == Backend::cpu ? " compiled" : "");
        if (only(c).mixes()) {
          ASSERT_NEAR(seen.shares[static_cast<std::size_t>(row)].at(0), share, 1e-5) << c.name;
        }
      }
    }
}

TEST(Transforms, EveryOneOfTheIndexIsTested) {
  for (const TransformDef* def : all_transforms()) {
    EXPECT_FALSE(def->doc.empty());
    EXPECT_EQ((def->image != nullptr) + (def->values != nullptr) + (def->mix != nullptr), 1) << def->name;
    const auto all = cases();
    const bool tested = def->values != nullptr || std::any_of(all.begin(), all.end(), [&](const Case& c) {
                          return c.name == def->name;
                        });
    EXPECT_TRUE(tested) << def->name;
    EXPECT_EQ(find_transform(def->name), def);
  }
}

/// Neither the batch, the threads nor the order of the rows change an image; another epoch does.
TEST(Transforms, DependOnSeedEpochAndSampleAlone) {
  for (const Case& c : cases()) {
    const Array data = pictures(c.channels);
    Compiled one(only(c), data), two(only(c), data, Backend::cpu, 2);
    const Seen wanted = one.epoch(1), other = one.epoch(3);
    const auto expect_same = [&](const Seen& seen, const char* how) {
      for (std::size_t r = 0; r < kRows; ++r)
        ASSERT_TRUE(identical(seen.images[r], wanted.images[r])) << c.name << " row " << r << how;
    };
    expect_same(one.epoch(1, 1), " one by one");
    expect_same(two.epoch(1, 40), " with two threads");
    expect_same(one.epoch(1, 7, true), " shuffled");
    std::int64_t same = 0;
    for (std::size_t r = 0; r < kRows; ++r) same += identical(other.images[r], wanted.images[r]) ? 1 : 0;
    if (find_transform(c.name)->random)
      EXPECT_LT(same, 35) << c.name;
    else
      EXPECT_EQ(same, kRows) << c.name;
  }
}

TEST(Transforms, AreTheIdentityWhereNothingIsDrawn) {
  const std::vector<std::pair<const char*, Options>> none{
      {"horizontal_flip", {{"p", 0.0}}},
      {"vertical_flip", {{"p", 0.0}}},
      {"rotation", {{"degrees", Numbers{0}}}},
      {"random_crop", {{"size", Numbers{kHeight, kWidth}}}},
      {"color_jitter", {}},
      {"random_erasing", {{"p", 0.0}}},
      {"cutout", {{"size", Numbers{3}}, {"p", 0.0}}},
      {"mixup", {{"p", 0.0}}},
      {"cutmix", {{"p", 0.0}}}};
  Array as_float(DType::f32, {kRows, 3, kHeight, kWidth});
  for (std::int64_t i = 0; i < as_float.count(); ++i) as_float.set(i, std::sin(static_cast<double>(i)) * 1e3);
  for (const auto& [name, options] : none) {
    Transforms list;
    list.add(name, options);
    const Seen seen = Compiled(list, as_float).epoch(0);
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::vector<std::int64_t> row{static_cast<std::int64_t>(r)};
      ASSERT_TRUE(identical(seen.images[r], take_rows(as_float, row))) << name;
    }
  }
}

/// A list is its transforms one after the other: crop, then flip what was cropped.
TEST(Transforms, AreAppliedInOrder) {
  Transforms list;
  list.add("center_crop", {{"size", Numbers{9}}});
  list.add("horizontal_flip", {{"p", 1.0}});
  list.add("random_crop", {{"size", Numbers{5}}});
  const Array data = pictures(3);
  const Seen seen = Compiled(list, data).epoch(4);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto draw = [&](std::size_t k) {
      return uniform_f32(philox_block(kSeed, 0x74720000 + 2 * 64, 4, static_cast<std::uint64_t>(row))[k]);
    };
    const Image middle = flipped(cropped(picture(data, row), 1, 2, 9, 9), true);
    const Image want =
        cropped(middle, static_cast<std::int64_t>(draw(0) * 5), static_cast<std::int64_t>(draw(1) * 5), 5, 5);
    for (std::int64_t i = 0; i < 75; ++i)
      ASSERT_EQ(seen.images[static_cast<std::size_t>(row)].at(i), want.v[static_cast<std::size_t>(i)]);
  }
}

TEST(Transforms, EvaluationLeavesOutWhatIsRandom) {
  Transforms list;
  list.add("random_resized_crop", {{"size", Numbers{6, 8}}});
  list.add("horizontal_flip");
  list.add("random_crop", {{"size", Numbers{5}}});
  list.add("normalize", {{"mean", Numbers{0.5}}, {"std", Numbers{0.5}}});
  list.add("mixup");
  const Transforms plain = list.evaluation();
  EXPECT_TRUE(list.mixes() && list.random());
  EXPECT_FALSE(plain.mixes() || plain.random());
  Transforms wanted;
  wanted.add("resize", {{"size", Numbers{8}}});
  wanted.add("center_crop", {{"size", Numbers{6, 8}}});
  wanted.add("center_crop", {{"size", Numbers{5}}});
  wanted.add("normalize", {{"mean", Numbers{0.5}}, {"std", Numbers{0.5}}});
  const Array data = pictures(3);
  const Seen a = Compiled(plain, data).epoch(0), b = Compiled(wanted, data).epoch(9);
  for (std::size_t r = 0; r < kRows; ++r) ASSERT_TRUE(identical(a.images[r], b.images[r]));
}

TEST(Transforms, RefuseWithTheReason) {
  Transforms list;
  EXPECT_ERROR(list.add("horizontal_flop"), "there is no transform 'horizontal_flop' (did you mean");
  EXPECT_ERROR(list.add("random_crop"), "size");
  EXPECT_ERROR(list.add("cutout", {{"sizes", Numbers{3}}}), "sizes");
  const auto trying = [](const char* name, const Options& options, std::int64_t channels = 3) {
    Transforms one;
    one.add(name, options, "", "job.toml:3");
    Compiled(one, pictures(channels), Backend::reference);
  };
  EXPECT_ERROR(trying("random_crop", {{"size", Numbers{14}}}),
               "job.toml:3: random_crop: a crop of 14 x 14 does not fit into images of 11 x 13");
  EXPECT_ERROR(trying("horizontal_flip", {{"p", 1.5}}), "p must be in [0, 1], not 1.5");
  EXPECT_ERROR(trying("resize", {{"size", Numbers{0}}}), "size must be one number or [height, width]");
  EXPECT_ERROR(trying("resize", {{"size", Numbers{4}}, {"interpolation", std::string("cubic")}}),
               "not 'cubic'");
  EXPECT_ERROR(trying("color_jitter", {{"hue", Numbers{0.7}}}), "must stay within -0.5..0.5");
  EXPECT_ERROR(trying("color_jitter", {{"brightness", Numbers{0.7}}}, 4), "1 or 3 channels, not 4");
  EXPECT_ERROR(trying("normalize", {{"mean", Numbers{1, 2}}, {"std", Numbers{1}}}),
               "mean has 2 numbers, the images have 3 channels");
  EXPECT_ERROR(trying("normalize", {{"mean", Numbers{1}}, {"std", Numbers{0}}}),
               "std must be greater than 0, not 0");
  EXPECT_ERROR(trying("mixup", {{"alpha", 0.0}}), "alpha must be greater than 0");
  list.add("mixup");
  EXPECT_ERROR(list.add("cutmix"), "mixed already");
  const TensorType table{DType::f32, {Dim::rows(), 4}}, image{DType::u8, {Dim::rows(), 9, 9}};
  EXPECT_ERROR(list.check({{"x", table}}), "mixup: fits no input: it takes images");
  EXPECT_ERROR(list.check({{"x", image}, {"y", table}}), "the model has 2 inputs");
  Transforms named;
  named.add("noise", {}, "xx");
  EXPECT_ERROR(named.check({{"x", table}}), "there is no input 'xx'");
}

Array numbers_of(const char* name, const Options& options, std::int64_t rows, std::int64_t epoch,
                 Backend backend) {
  Transforms list;
  list.add(name, options);
  const TensorType number{DType::i64, {}};
  ir::Graph graph;
  graph.inputs = {input("data", "data", {DType::f32, {Dim::rows(), 5}}),
                  input("rows", "rows", {DType::i64, {Dim::batch()}}), input("seed", "seed", number),
                  input("epoch", "epoch", number)};
  const Tensor x = gather(graph.inputs[0], graph.inputs[1]);
  graph.outputs = {
      {"y",
       list.values("data", x, {graph.inputs[2], graph.inputs[3], graph.inputs[1], graph.inputs[1], {}})}};
  CompileOptions o;
  o.backend = backend;
  o.disk_cache = false;
  Program p = Program::compile(graph, o);
  p.set_seed(kSeed);
  Array data(DType::f32, {rows, 5});
  for (std::int64_t i = 0; i < data.count(); ++i) data.set(i, 1);
  p.bind("data", data);
  p.run({.rows = rows, .batch = rows}, epoch, 1);
  return p.result("y").clone();
}

TEST(Transforms, NoiseIsGaussianAndDropoutHitsItsShare) {
  const Array a = numbers_of("noise", {{"sigma", 0.5}, {"mean", 0.25}}, 20000, 1, Backend::cpu);
  double mean = 0, square = 0;
  for (std::int64_t i = 0; i < a.count(); ++i)
    mean += a.at(i) - 1, square += (a.at(i) - 1.25) * (a.at(i) - 1.25);
  EXPECT_NEAR(mean / 1e5, 0.25, 0.008);
  EXPECT_NEAR(square / 1e5, 0.25, 0.006);
  const Array b = numbers_of("noise", {{"sigma", 0.5}, {"mean", 0.25}}, 20000, 1, Backend::reference);
  for (std::int64_t i = 0; i < 500; ++i) ASSERT_NEAR(a.at(i), b.at(i), 1e-5);
  const Array d = numbers_of("column_dropout", {{"p", 0.3}, {"value", -4.0}}, 20000, 2, Backend::cpu);
  double gone = 0;
  for (std::int64_t i = 0; i < d.count(); ++i) {
    ASSERT_TRUE(d.at(i) == 1 || d.at(i) == -4);
    gone += d.at(i) == -4 ? 1 : 0;
  }
  EXPECT_NEAR(gone / 1e5, 0.3, 0.008);
  EXPECT_TRUE(identical(numbers_of("column_dropout", {{"p", 0.0}}, 100, 0, Backend::cpu),
                        numbers_of("noise", {{"sigma", 0.0}}, 100, 0, Backend::cpu)));
}

/// Values of scipy.stats.beta(a, a).ppf(q), where they have a closed form.
TEST(Transforms, BetaQuantiles) {
  EXPECT_NEAR(beta_quantile(1, 0.3), 0.3, 1e-14);
  for (const double q : {0.01, 0.2, 0.5, 0.9}) {
    const double s = std::sin(M_PI * q / 2);
    EXPECT_NEAR(beta_quantile(0.5, q), s * s, 1e-12);
    const double x = beta_quantile(2, q);
    EXPECT_NEAR(x * x * (3 - 2 * x), q, 1e-12);
  }
}

}  // namespace
}  // namespace tightloop::data
