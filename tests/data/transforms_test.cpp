// SPDX-License-Identifier: Apache-2.0
// Every transform of the index against a plain C++ reference, image by image; and what holds for all: the
// same images for any batch, number of threads and order, others in each epoch, and nothing changed at p = 0.
#include <tests/data/transform_reference.h>
#include <tests/support/files.h>
#include <tightloop/base/random.h>
#include <tightloop/data/dataset.h>
#include <tightloop/data/images/geometry.h>
#include <tightloop/data/transforms/beta.h>
#include <tightloop/data/transforms/transform.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace tightloop::data {
namespace {

using namespace testing;

struct Seen {
  std::vector<Array> images, shares;  ///< one a row of the data
};

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
        const testing::Image want = c.reference(picture(data, row), picture(data, partner(row)), u, share);
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
    const testing::Image middle = flipped(cropped(picture(data, row), 1, 2, 9, 9), true);
    const testing::Image want =
        cropped(middle, static_cast<std::int64_t>(draw(0) * 5), static_cast<std::int64_t>(draw(1) * 5), 5, 5);
    for (std::int64_t i = 0; i < 75; ++i)
      ASSERT_EQ(seen.images[static_cast<std::size_t>(row)].at(i), want.v[static_cast<std::size_t>(i)]);
  }
}

/// Where the places of a crop's pixels lie in the image, along one side.
double crop_place(double first, double length, std::int64_t size, std::int64_t i) {
  const double at = (static_cast<double>(i) + 0.5) * length / static_cast<double>(size) - 0.5;
  return first + std::clamp(at, 0.0, length - 1);
}

TEST(Transforms, DecodingTakesTheSameCropsAsTheStep) {
  constexpr std::int64_t kHigh = 60, kWide = 80, kSize = 32;
  Array places(DType::f32, {kRows, 2, kHigh, kWide});  // y in one channel, x in the other
  for (std::int64_t i = 0; i < places.count(); ++i)
    places.set(i, static_cast<double>(i / (kHigh * kWide) % 2 == 0 ? i / kWide % kHigh : i % kWide));
  const Options options{{"size", Numbers{kSize}}};
  Transforms list;
  list.add("random_resized_crop", options);
  Compiled compiled(list, places);
  for (const std::int64_t epoch : {0, 3}) {
    const Seen seen = compiled.epoch(epoch);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const data::Box box =
          frame({make_geometry("random_resized_crop", options)}, kHigh, kWide, {kSeed, epoch}, row).box;
      const Array& image = seen.images[static_cast<std::size_t>(row)];
      for (std::int64_t i = 0; i < kSize; ++i) {
        ASSERT_NEAR(image.at(i * kSize), crop_place(box.top, box.height, kSize, i), 1e-3);
        ASSERT_NEAR(image.at(kSize * kSize + i), crop_place(box.left, box.width, kSize, i), 1e-3);
      }
    }
  }
}

TEST(Transforms, AListWhoseHeadIsDoneElsewhereDrawsAsTheWholeListDoes) {
  Transforms whole, rest;
  whole.add("center_crop", {{"size", Numbers{9}}});
  whole.add("horizontal_flip");
  whole.add("random_crop", {{"size", Numbers{5}}});
  rest.add("horizontal_flip");
  rest.add("random_crop", {{"size", Numbers{5}}});
  const Array data = pictures(3);
  Transforms crop;
  crop.add("center_crop", {{"size", Numbers{9}}});
  Array cropped_data(DType::f32, {kRows, 3, 9, 9});
  const Seen cropped_images = Compiled(crop, data).epoch(0);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::int64_t i = 0; i < 243; ++i)
      cropped_data.set(static_cast<std::int64_t>(r) * 243 + i, cropped_images.images[r].at(i));
  const Seen want = Compiled(whole, data).epoch(2);
  const auto same = [&] {
    const Seen seen = Compiled(rest, cropped_data).epoch(2);
    std::size_t count = 0;
    for (std::size_t r = 0; r < kRows; ++r) count += identical(seen.images[r], want.images[r]);
    return count;
  };
  EXPECT_LT(same(), static_cast<std::size_t>(kRows));
  rest.start_at(1);
  EXPECT_EQ(same(), static_cast<std::size_t>(kRows));
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
