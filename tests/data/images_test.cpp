// SPDX-License-Identifier: Apache-2.0
// Against what Pillow makes of the same files (tests/fixtures/images/make.py).
#include <tests/support/files.h>

#include <tightloop/base/file.h>
#include <tightloop/base/random.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/images/reader.h>
#include <tightloop/io/npy.h>

#include <cmath>
#include <cstdlib>

namespace tightloop::data {
namespace {

using testing::fixture;

Bytes file(const std::string& name) { return map_file(fixture("images/" + name)); }
Array expected(const std::string& name) { return io::read_npy(fixture("images/" + name + ".npy")); }

Image decoded(const std::string& name, int channels = 3) {
  const Bytes bytes = file(name);
  const ImageFormat& format = image_format(bytes.span(), name);
  const ImageHeader header = format.header(bytes.span(), name);
  Image image;
  format.decode(bytes.span(), name, {}, image);
  return oriented(with_channels(std::move(image), channels), header.orientation);
}

/// The largest difference of a byte, or 999 when the sizes differ.
int difference(const Image& image, const Array& want) {
  const std::vector<std::int64_t> dims{image.height, image.width, image.channels};
  if (want.dims() != dims || image.depth != 8) return 999;
  int worst = 0;
  for (std::int64_t i = 0; i < want.count(); ++i)
    worst = std::max(worst,
                     std::abs(image.bytes[static_cast<std::size_t>(i)] - static_cast<int>(want.int_at(i))));
  return worst;
}

Array read(const std::string& name, const ImageOptions& options, const SampleKey& key = {},
           std::int64_t number = 0) {
  const Bytes bytes = file(name);
  const ImageReader reader(options, bytes.span(), name);
  Array out(options.dtype, reader.dims());
  reader.read(bytes.span(), name, key, number, out.bytes());
  return out;
}

TEST(Images, EveryFormatDecodesToTheSamePixelsAsPillow) {
  EXPECT_EQ(difference(decoded("colour.jpg"), expected("colour")), 0);
  EXPECT_EQ(difference(decoded("gray.jpg"), expected("gray")), 0);
  EXPECT_EQ(difference(decoded("progressive.jpg"), expected("progressive")), 0);
  EXPECT_LE(difference(decoded("cmyk.jpg"), expected("cmyk")), 1);
  EXPECT_EQ(difference(decoded("colour.png"), expected("colour_png")), 0);
  EXPECT_EQ(difference(decoded("palette.png"), expected("palette_png")), 0);
  EXPECT_EQ(difference(decoded("bits.png"), expected("bits_png")), 0);
  EXPECT_EQ(difference(decoded("lossless.webp"), expected("colour_png")), 0);
  EXPECT_EQ(difference(decoded("lossy.webp"), expected("lossy")), 0);
}

/// How many bytes of `part` are not those of `place` in `whole`.
int differing(const Image& part, const Image& whole, const Region& place) {
  if (part.height != place.height || part.width != place.width || part.channels != whole.channels) return -1;
  int out = 0;
  for (std::int64_t y = 0; y < place.height; ++y)
    for (std::int64_t i = 0; i < place.width * part.channels; ++i)
      out += part.bytes[static_cast<std::size_t>(y * place.width * part.channels + i)] !=
             whole.bytes[static_cast<std::size_t>(
                 ((place.top + y) * whole.width + place.left) * part.channels + i)];
  return out;
}

TEST(Images, APartOfAJpegHasThePixelsOfTheWhole) {
  for (const char* name : {"wide420.jpg", "wide422.jpg", "wide444.jpg", "wide_progressive.jpg",
                           "wide_gray.jpg", "wide_cmyk.jpg", "colour.jpg"}) {
    const Bytes bytes = file(name);
    const ImageFormat& format = image_format(bytes.span(), name);
    ASSERT_TRUE(format.partial);
    for (const int reduce : {1, 2, 4, 8}) {
      Image whole, part;
      format.decode(bytes.span(), name, {reduce}, whole);
      for (std::uint64_t i = 0; i < 200; ++i) {
        const auto draw = [&](std::uint32_t word, std::int64_t below) {
          return static_cast<std::int64_t>(philox_block(1, 0, i, 0)[word]) % below;
        };
        Region r{draw(0, whole.height), draw(1, whole.width)};
        r.height = 1 + draw(2, whole.height - r.top), r.width = 1 + draw(3, whole.width - r.left);
        format.decode(bytes.span(), name, {reduce, r}, part);
        ASSERT_EQ(differing(part, whole, r), 0)
            << name << " / " << reduce << ": " << r.top << " " << r.left << " " << r.height << " " << r.width;
      }
    }
  }
}

TEST(Images, AWindowIsTheSameWhateverPartIsDecodedForIt) {
  for (int turn = 1; turn <= 8; ++turn) {
    const std::string name = "turn" + std::to_string(turn) + ".jpg";
    const Image whole = decoded(name);
    for (std::int64_t number = 0; number < 20; ++number) {
      const Geometries steps{make_geometry("random_resized_crop", {{"size", Numbers{9, 7}}})};
      const Image want = resample(whole, frame(steps, whole.height, whole.width, {3, 1}, number));
      const Array got = read(name, {.steps = steps}, {3, 1}, number);
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t i = 0; i < 63; ++i)
          ASSERT_EQ(got.int_at(c * 63 + i), want.bytes[static_cast<std::size_t>(i * 3 + c)]) << name;
    }
  }
}

TEST(Images, AJpegThatIsCutIsRefusedHoweverLittleOfItIsWanted) {
  const Bytes whole = file("wide420.jpg");
  const auto cut = whole.span().first(whole.span().size() - 300);
  Image image;
  EXPECT_ERROR(image_format(cut, "c.jpg").decode(cut, "c.jpg", {1, {0, 0, 4, 4}}, image),
               "c.jpg: the JPEG is damaged or cut short");
}

TEST(Images, ChannelsAreMadeGivenAndDropped) {
  EXPECT_EQ(difference(decoded("rgba.png", 4), expected("rgba")), 0);
  EXPECT_EQ(difference(decoded("alpha.webp", 4), expected("rgba")), 0);
  EXPECT_EQ(difference(decoded("rgba.png", 3), expected("colour_png")), 0);
  EXPECT_EQ(difference(decoded("colour.png", 1), expected("luma")), 0);
  EXPECT_EQ(difference(decoded("gray_alpha.png", 1), expected("luma")), 0);
  const Image opaque = decoded("gray.jpg", 4);
  EXPECT_EQ(opaque.bytes[3], 255);
  const Image palette = decoded("palette.png", 4);
  EXPECT_EQ(std::count_if(palette.bytes.begin(), palette.bytes.end(), [](auto b) { return b == 0; }) > 0,
            true);
}

TEST(Images, OrientationsAreApplied) {
  for (int turn = 1; turn <= 8; ++turn) {
    const std::string name = "turn" + std::to_string(turn);
    EXPECT_EQ(difference(decoded(name + ".jpg"), expected(name)), 0) << turn;
  }
  EXPECT_EQ(read("turn6.jpg", {}).dims(), (std::vector<std::int64_t>{3, 24, 16}));
}

TEST(Images, SixteenBitsAreExactAsFloatingNumbersAndRefusedAsBytes) {
  const Array x = read("deep.png", {.channels = 1, .dtype = DType::f32});
  EXPECT_EQ(x.at(0), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(x.at(1)), 255.f / 65535);
  EXPECT_FLOAT_EQ(static_cast<float>(x.at(2)), .6103609f);
  EXPECT_EQ(x.at(3), 1);
  const Array rgb = read("deep_rgb.png", {.dtype = DType::f32});
  EXPECT_EQ(rgb.dims(), (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(rgb.at(1), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(rgb.at(4)), 2.f / 65535);
  EXPECT_ERROR(read("deep.png", {}),
               "deep.png: has 16 bits a sample, more than bytes hold; set data.images.type");
  EXPECT_FLOAT_EQ(static_cast<float>(read("tiny.png", {.dtype = DType::f32}).at(2)), 3.f / 255);
}

TEST(Images, DamagedCutAndHugeOnesAreRefusedByName) {
  EXPECT_ERROR(decoded("huge.png"),
               "huge.png: the image claims to be 2147483647 wide and 2147483647 high; at most");
  EXPECT_ERROR(decoded("cut.png"), "cut.png: the PNG is damaged or cut short: the file ends early");
  EXPECT_ERROR(decoded("cut.jpg"), "cut.jpg: the JPEG is damaged or cut short: ");
  EXPECT_ERROR(decoded("cut.webp"), "cut.webp: the WebP is damaged or cut short");
  EXPECT_ERROR(decoded("moving.webp"), "moving.webp: is an animated WebP");
  EXPECT_ERROR(decoded("make.py"), "make.py: is no image that is read here: JPEG, PNG, WebP");
  EXPECT_ERROR(image_format({}, "nothing.png"), "nothing.png: the file is empty");
}

Array planes(const Array& rows) {
  const auto& d = rows.dims();
  Array out(DType::u8, {d[2], d[0], d[1]});
  for (std::int64_t i = 0; i < d[0] * d[1]; ++i)
    for (std::int64_t c = 0; c < d[2]; ++c) out.set_int(c * d[0] * d[1] + i, rows.int_at(i * d[2] + c));
  return out;
}

Geometry geometry(const std::string& name, const Options& options) { return make_geometry(name, options); }

TEST(Images, ResizingGivesThePixelsOfPillow) {
  for (const auto& [h, w] : {std::pair{11.0, 8.0}, {46.0, 74.0}, {5.0, 60.0}, {23.0, 12.0}}) {
    const ImageOptions options{.steps = {geometry("resize", {{"size", Numbers{h, w}}})}};
    const std::string name =
        "resized_" + std::to_string(static_cast<int>(h)) + "x" + std::to_string(static_cast<int>(w));
    EXPECT_TRUE(identical(read("colour.png", options), planes(expected(name)))) << name;
  }
  const Image image = resample(decoded("colour.png"), {{2.25, 3.5, 17.75, 27.25}, 9, 10, 0, 0, 9, 10});
  EXPECT_EQ(difference(image, expected("resized_box")), 0);
}

TEST(Images, ABoxThatIsCutOutSeesNothingOfWhatLiesAroundIt) {
  const Image whole = decoded("colour.png");
  const Box box{4, 7, 11, 15};
  for (const auto& [h, w] : {std::pair{20, 31}, {5, 6}, {11, 9}}) {
    const Image cut = resample(whole, {box, 11, 15, 0, 0, 11, 15});
    const Image want = resample(cut, {{0, 0, 11, 15}, h, w, 0, 0, h, w});
    EXPECT_EQ(resample(whole, {box, h, w, 0, 0, h, w, true}).bytes, want.bytes);
    EXPECT_NE(resample(whole, {box, h, w, 0, 0, h, w, false}).bytes, want.bytes);
  }
}

TEST(Images, AWindowIsPartOfTheWhole) {
  const Image whole = resample(decoded("colour.png"), {{0, 0, 23, 37}, 11, 8, 0, 0, 11, 8});
  const Image part = resample(decoded("colour.png"), {{0, 0, 23, 37}, 11, 8, 3, -2, 9, 7});
  for (std::int64_t y = 0; y < 9; ++y)
    for (std::int64_t x = 0; x < 7; ++x) {
      const bool inside = y + 3 < 11 && x >= 2;
      const int want = inside ? whole.bytes[static_cast<std::size_t>(((y + 3) * 8 + x - 2) * 3)] : 0;
      EXPECT_EQ(part.bytes[static_cast<std::size_t>((y * 7 + x) * 3)], want) << y << " " << x;
    }
}

TEST(Images, LargeJpegsAreDecodedAtAFractionNearlyAsExactly) {
  const Array want = planes(expected("large_24x32"));
  const Array got = read("large.jpg", {.steps = {geometry("resize", {{"size", Numbers{24, 32}}})}});
  ASSERT_EQ(got.dims(), want.dims());
  double worst = 0, sum = 0;
  for (std::int64_t i = 0; i < want.count(); ++i) {
    const double d = std::fabs(got.at(i) - want.at(i));
    worst = std::max(worst, d), sum += d;
  }
  EXPECT_LE(sum / static_cast<double>(want.count()), 1.0);
  EXPECT_LE(worst, 16);
}

Framing framed(const Geometries& steps, std::int64_t h, std::int64_t w, std::int64_t number = 0,
               std::int64_t epoch = 0) {
  return frame(steps, h, w, {7, epoch}, number);
}

TEST(Geometry, SizesFollowTorchvision) {
  const Geometries shorter{geometry("resize", {{"size", Numbers{256}}}),
                           geometry("center_crop", {{"size", Numbers{224}}})};
  const Framing f = framed(shorter, 375, 500);
  EXPECT_EQ(f.height, 256);
  EXPECT_EQ(f.width, 341);
  EXPECT_EQ(f.top, 16);
  EXPECT_EQ(f.left, 58);  // round(58.5) to even
  EXPECT_EQ(f.window_height, 224);
  const Framing small = framed({geometry("center_crop", {{"size", Numbers{10, 8}}})}, 7, 20);
  EXPECT_EQ(small.top, -1);
  EXPECT_EQ(small.left, 6);
  EXPECT_EQ(fixed_size(shorter)->second, 224);
  EXPECT_FALSE(fixed_size({geometry("resize", {{"size", Numbers{256}}})}).has_value());
}

TEST(Geometry, RandomCropsStayInsideAndFollowSeedEpochAndSample) {
  const Geometries steps{geometry("random_resized_crop", {{"size", Numbers{8}}})};
  double area = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const Box b = framed(steps, 60, 80, i).box;
    ASSERT_GE(b.top, 0);
    ASSERT_GE(b.left, 0);
    ASSERT_LE(b.top + b.height, 60);
    ASSERT_LE(b.left + b.width, 80);
    ASSERT_GE(b.width / b.height, 0.65);
    ASSERT_LE(b.width / b.height, 1.5);
    area += b.width * b.height / 4800;
  }
  EXPECT_NEAR(area / 2000, 0.4318, 0.02);  // large ones that stick out are drawn again
  EXPECT_EQ(framed(steps, 60, 80, 3).box.top, framed(steps, 60, 80, 3).box.top);
  EXPECT_NE(framed(steps, 60, 80, 3).box.width, framed(steps, 60, 80, 3, 1).box.width);
  EXPECT_NE(framed(steps, 60, 80, 3).box.width, framed(steps, 60, 80, 4).box.width);
  const Box thin = framed(steps, 1000, 3, 0).box;  // no try fits: the middle
  EXPECT_EQ(thin.width, 3);
  EXPECT_EQ(thin.height, 4);
  EXPECT_EQ(thin.top, 498);
}

TEST(Geometry, OptionsAreChecked) {
  EXPECT_ERROR(geometry("resize", {}), "size");
  EXPECT_ERROR(geometry("resize", {{"size", Numbers{0}}}), "resize: size must be whole numbers from 1");
  EXPECT_ERROR(geometry("center_crop", {{"size", Numbers{1, 2, 3}}}), "size must be one number or two");
  EXPECT_ERROR(geometry("random_resized_crop", {{"size", Numbers{8}}, {"scale", Numbers{0.5, 2}}}),
               "random_resized_crop: scale must be two numbers over 0 and at most 1, the smaller one first");
  const std::vector<std::string> names{"resize", "center_crop", "flip"};
  EXPECT_EQ(leading_geometries(names), 2u);
  EXPECT_EQ(leading_geometries(std::span(names).subspan(1)), 1u);
  EXPECT_EQ(leading_geometries(std::span(names).subspan(2)), 0u);
}

TEST(Images, OtherSizesThanTheFirstAreRefusedWithTheNumbers) {
  const Bytes first = file("colour.png"), other = file("tiny.png");
  const ImageReader reader({}, first.span(), "colour.png");
  std::vector<std::byte> out(3 * 23 * 37);
  EXPECT_ERROR(reader.read(other.span(), "tiny.png", {}, 0, out.data()),
               "tiny.png: is 1 high and 1 wide, the first image 23 and 37; set data.images.size");
}

TEST(Exif, DamagedDirectoriesGiveNoOrientation) {
  const std::string tiff("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22);
  const auto orientation = [](const std::string& s) { return exif_orientation(std::as_bytes(std::span(s))); };
  EXPECT_EQ(orientation(tiff), 6);
  for (std::size_t n = 0; n < tiff.size(); ++n) EXPECT_EQ(orientation(tiff.substr(0, n)), 1) << n;
  std::string far = tiff;
  far[4] = '\xff', far[7] = '\xff';
  EXPECT_EQ(orientation(far), 1);
}

}  // namespace
}  // namespace tightloop::data
