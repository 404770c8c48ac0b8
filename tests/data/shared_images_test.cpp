// SPDX-License-Identifier: Apache-2.0
// Images that other programs wrote, where they are present.
#include <tests/support/files.h>

#include <tightloop/base/file.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/images/reader.h>

namespace tightloop::data {
namespace {

struct SharedImages : ::testing::Test {
  void SetUp() override {
    if (testing::shared_fixture("png").empty()) GTEST_SKIP() << "the shared fixtures are not here";
  }
  static std::vector<double> read(const std::string& name, int channels, DType dtype = DType::u8) {
    const Bytes bytes = map_file(testing::shared_fixture("png/" + name));
    const ImageReader reader({.channels = channels, .dtype = dtype}, bytes.span(), name);
    Array out(dtype, reader.dims());
    reader.read(bytes.span(), name, {}, 0, out.bytes());
    std::vector<double> values;
    for (std::int64_t i = 0; i < out.count(); ++i) values.push_back(out.at(i));
    return values;
  }
};

using Values = std::vector<double>;

TEST_F(SharedImages, DepthsPalettesAndAlpha) {
  EXPECT_EQ(read("gray1.png", 1), (Values{0, 255, 255, 0}));
  EXPECT_EQ(read("gray8.png", 1), (Values{0, 64, 128, 255}));
  EXPECT_EQ(read("gray_alpha.png", 1), (Values{128}));
  EXPECT_EQ(read("gray_alpha.png", 4), (Values{128, 128, 128, 0}));
  EXPECT_EQ(read("palette.png", 3), (Values{255, 0, 0, 0, 0, 255}));
  EXPECT_EQ(read("rgba.png", 3), (Values{255, 0, 0}));
  EXPECT_EQ(read("rgba.png", 4), (Values{255, 0, 0, 128}));
}

TEST_F(SharedImages, SixteenBits) {
  const Values x = read("gray16.png", 1, DType::f32);
  ASSERT_EQ(x.size(), 4u);
  EXPECT_EQ(x[0], 0);
  EXPECT_NEAR(x[1], .0038911, 1e-7);
  EXPECT_NEAR(x[2], .6103609, 1e-7);
  EXPECT_EQ(x[3], 1);
  EXPECT_EQ(read("rgb16.png", 3, DType::f32).size(), 3u);
  EXPECT_ERROR(read("gray16.png", 1), "has 16 bits a sample");
}

TEST_F(SharedImages, HugeAndCutOnesAreRefused) {
  EXPECT_ERROR(read("huge_dims.png", 3), "huge_dims.png: the image claims to be 2147483647 wide");
  EXPECT_ERROR(read("truncated.png", 3, DType::f32), "truncated.png: the PNG is damaged or cut short");
}

}  // namespace
}  // namespace tightloop::data
