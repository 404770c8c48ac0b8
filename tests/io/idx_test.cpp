// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/idx.h>

namespace tightloop::io {
namespace {

std::string idx(int type, const std::vector<unsigned>& dims, const std::string& data) {
  std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(dims.size())};
  for (const unsigned d : dims)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((d >> shift) & 0xff);
  return out + data;
}

Array parse(const std::string& text) { return parse_idx(Bytes::copy_of(text), "a-ubyte"); }
std::string raw(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Idx, ReadsEveryType) {
  EXPECT_TRUE(identical(parse(idx(8, {2}, raw({3, 250}))), Array::of<std::uint8_t>({2}, {3, 250})));
  EXPECT_TRUE(identical(parse(idx(9, {2}, raw({3, 250}))), Array::of<std::int32_t>({2}, {3, -6})));
  EXPECT_TRUE(identical(parse(idx(11, {2}, raw({1, 2, 255, 254}))), Array::of<std::int32_t>({2}, {258, -2})));
  EXPECT_TRUE(identical(parse(idx(12, {1}, raw({0, 0, 1, 2}))), Array::of<std::int32_t>({1}, {258})));
  EXPECT_TRUE(identical(parse(idx(13, {1}, raw({0x3f, 0x80, 0, 0}))), Array::of<float>({1}, {1.f})));
  EXPECT_TRUE(
      identical(parse(idx(14, {1}, raw({0x40, 0, 0, 0, 0, 0, 0, 0}))), Array::of<double>({1}, {2.0})));
  EXPECT_EQ(parse(idx(8, {2, 1, 3}, "abcdef")).type_string(), "u8[2, 1, 3]");
}

TEST(Idx, BorrowsBytes) {
  const Bytes bytes = Bytes::copy_of(idx(8, {4}, "abcd"));
  EXPECT_EQ(parse_idx(bytes, "a").bytes(), bytes.data() + 8);
}

TEST(Idx, RefusesMalformedFiles) {
  EXPECT_ERROR(parse(""), "not an IDX file");
  EXPECT_ERROR(parse("PNG!"), "not an IDX file");
  EXPECT_ERROR(parse(idx(10, {1}, "a")), "type byte 10 is not known");
  EXPECT_ERROR(parse(idx(0, {1}, "a")), "type byte 0 is not known");
  EXPECT_ERROR(parse(idx(8, {}, "")), "rank 0");
  EXPECT_ERROR(parse(idx(8, {4}, "abc")), "asks for 4 bytes of data, the file has 3 (cut short?)");
  EXPECT_ERROR(parse(idx(8, {4}, "abcde")), "asks for 4 bytes of data, the file has 5");
  EXPECT_ERROR(parse(idx(14, {0x80000000u, 0x80000000u}, "")), "overflows");
  const std::string whole = idx(8, {2, 2}, "abcd");
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_ERROR(parse(whole.substr(0, n)), "a-ubyte");
}

TEST(Idx, ReadsFashionMnistWhereItIsInstalled) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  if (!std::filesystem::exists(folder + "t10k-images-idx3-ubyte.gz")) GTEST_SKIP() << "not here";
  const Array images = read_idx(folder + "t10k-images-idx3-ubyte.gz");
  const Array labels = read_idx(folder + "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(images.type_string(), "u8[10000, 28, 28]");
  EXPECT_EQ(labels.type_string(), "u8[10000]");
  std::vector<int> count(10, 0);
  for (const auto label : labels.as<std::uint8_t>()) ++count.at(label);
  EXPECT_EQ(count, std::vector<int>(10, 1000));
}

}  // namespace
}  // namespace tightloop::io
