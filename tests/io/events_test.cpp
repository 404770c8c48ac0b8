// SPDX-License-Identifier: Apache-2.0
// What a reader of its own makes of whole files is tested in tests/house/events_test.py.
#include <tests/support/files.h>
#include <tightloop/io/events.h>
#include <tightloop/io/png.h>

#include <cmath>
#include <cstring>

namespace tightloop::io {
namespace {

TEST(Proto, FieldsAreWrittenAsTheFormatSays) {
  // The examples of protobuf.dev/programming-guides/encoding.
  EXPECT_EQ(ProtoMessage().whole(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(ProtoMessage().text(2, "testing").bytes(), "\x12\x07testing");
  EXPECT_EQ(ProtoMessage().message(3, ProtoMessage().whole(1, 150)).bytes(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(ProtoMessage().whole(1, -2).bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(ProtoMessage().number(1, 1.0).bytes(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
  EXPECT_EQ(ProtoMessage().small_number(2, 1.0F).bytes(), std::string("\x15\0\0\x80\x3f", 5));
  const double pair[] = {1.0, 0.0};
  EXPECT_EQ(ProtoMessage().numbers(6, pair).bytes(),
            std::string("\x32\x10\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\0", 18));
}

TEST(Events, ChecksumsAreThoseOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Events, ARecordFramesItsBytes) {
  const std::string record = event_record("abc");
  ASSERT_EQ(record.size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
  std::uint32_t masked = 0;
  std::memcpy(&masked, record.data() + 15, 4);
  const std::uint32_t crc = masked - 0xa282ead8U;
  EXPECT_EQ((crc << 15) | (crc >> 17), crc32c("abc"));
}

/// The doubles of the packed field that begins behind `tag` and a length of one byte.
std::vector<double> packed(const std::string& bytes, char tag) {
  // After five doubles with a byte each for their fields.
  for (std::size_t at = 5 * 9; at < bytes.size();) {
    std::size_t size = static_cast<unsigned char>(bytes[at + 1]), skip = 2;
    if (size >= 0x80) size = (size & 0x7f) | static_cast<std::size_t>(bytes[at + 2]) << 7, skip = 3;
    if (bytes[at] == tag) {
      std::vector<double> out(size / 8);
      std::memcpy(out.data(), bytes.data() + at + skip, size);
      return out;
    }
    at += skip + size;
  }
  return {};
}

TEST(Events, HistogramsCountEveryFiniteValueOnce) {
  std::vector<double> values;
  for (int i = 0; i <= 300; ++i) values.push_back(-1 + i / 100.0);
  values.push_back(std::nan(""));
  values.push_back(INFINITY);
  const std::string h = histogram(values).bytes();
  const auto limits = packed(h, '\x32'), counts = packed(h, '\x3a');
  ASSERT_EQ(limits.size(), 30u);
  ASSERT_EQ(counts.size(), 30u);
  EXPECT_EQ(limits.back(), 2.0);
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_NEAR(counts[i], 10, 1.5) << i;
    sum += counts[i];
  }
  EXPECT_EQ(sum, 301);
  for (const auto& few : {std::vector<double>{}, {3, 3, 3}, {std::nan("")}})
    EXPECT_EQ(packed(histogram(few).bytes(), '\x32').size(), 1u);
}

TEST(Png, RefusesWhatCannotBeOne) {
  const std::vector<std::uint8_t> pixels(12, 7);
  EXPECT_EQ(encode_png(pixels, 2, 2, 3).substr(1, 3), "PNG");
  EXPECT_ERROR(encode_png(pixels, 2, 3, 2), "3 x 2 pixels with 2 channels");
  EXPECT_ERROR(encode_png(pixels, 2, 3, 1), "cannot be made of 12 bytes");
  EXPECT_ERROR(encode_png({}, 0, 3, 1), "cannot be made");
}

}  // namespace
}  // namespace tightloop::io
