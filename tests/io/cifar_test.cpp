// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/cifar.h>

namespace tightloop::io {
namespace {

using tightloop::testing::put;
using tightloop::testing::TempDir;

/// A record whose pixels count on from `start`.
std::string record(const std::string& labels, int start) {
  std::string out = labels;
  for (int i = 0; i < 3072; ++i) out += static_cast<char>((start + i) & 0xff);
  return out;
}

Bytes bytes(const std::string& text) { return Bytes::copy_of(text); }

TEST(Cifar, TenHasOneLabel) {
  const CifarData d = parse_cifar(
      {{"a", bytes(record("\3", 5) + record("\1", 6))}, {"b", bytes(record("\7", 7))}}, Cifar::ten);
  EXPECT_EQ(d.images.type_string(), "u8[3, 3, 32, 32]");
  EXPECT_TRUE(identical(d.labels, Array::of<std::int64_t>({3}, {3, 1, 7})));
  EXPECT_EQ(d.images.at(0), 5);
  EXPECT_EQ(d.images.at(3072 + 1), 7);
  EXPECT_EQ(d.images.at(2 * 3072 + 33), (7 + 33) & 0xff);
}

TEST(Cifar, HundredHasTwo) {
  const CifarData d =
      parse_cifar({{"a", bytes(record("\4\x40", 0) + record("\x13\x63", 0))}}, Cifar::hundred);
  EXPECT_TRUE(identical(d.labels, Array::of<std::int64_t>({2}, {64, 99})));
  EXPECT_TRUE(identical(d.coarse_labels, Array::of<std::int64_t>({2}, {4, 19})));
}

TEST(Cifar, RefusesOtherSizesAndLabels) {
  EXPECT_ERROR(parse_cifar({{"a.bin", bytes(record("\3", 5) + "x")}}, Cifar::ten),
               "a.bin: has 3074 bytes, which is no whole number of CIFAR-10 records of 3073");
  EXPECT_ERROR(parse_cifar({{"a.bin", bytes("")}}, Cifar::ten), "a.bin: has 0 bytes");
  EXPECT_ERROR(parse_cifar({{"a.bin", bytes(record("\3", 5) + record("\12", 5))}}, Cifar::ten),
               "a.bin: record 2 has the label 10; there are 10 classes from 0");
  EXPECT_ERROR(parse_cifar({{"a.bin", bytes(record("\24\3", 5))}}, Cifar::hundred), "has the label 20");
}

TEST(Cifar, FilesAndNamesOfAFolder) {
  TempDir dir;
  for (const int i : {2, 1}) put(dir / ("data_batch_" + std::to_string(i) + ".bin"), record("\1", i));
  EXPECT_EQ(cifar_training_files(dir.path(), Cifar::ten),
            (std::vector<std::string>{dir / "data_batch_1.bin", dir / "data_batch_2.bin"}));
  EXPECT_TRUE(cifar_training_files(dir.path(), Cifar::hundred).empty());
  EXPECT_TRUE(cifar_classes(dir.path(), Cifar::ten).empty());
  put(dir / "batches.meta.txt", "a\nb\r\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  EXPECT_EQ(cifar_classes(dir.path(), Cifar::ten)[1], "b");
  put(dir / "batches.meta.txt", "a\nb\n");
  EXPECT_ERROR(cifar_classes(dir.path(), Cifar::ten), "names 2 classes, 10 expected");
  EXPECT_TRUE(is_cifar(bytes(record("\1", 0)), "x/test_batch.bin", Cifar::ten));
  EXPECT_FALSE(is_cifar(bytes(record("\1", 0)), "x/other.bin", Cifar::ten));
  EXPECT_FALSE(is_cifar(bytes(record("\1\1", 0)), "x/test_batch.bin", Cifar::ten));
}

}  // namespace
}  // namespace tightloop::io
