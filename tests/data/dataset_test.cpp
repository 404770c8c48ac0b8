// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/dataset.h>

#include <algorithm>
#include <cmath>

namespace tightloop::data {
namespace {

Field field(const std::string& name, std::int64_t rows, DType dtype = DType::f32) {
  return {name, Array(dtype, {rows, 2})};
}

TEST(Dataset, HoldsFieldsOfEqualRows) {
  const Dataset data({field("x", 5), {"y", Array(DType::i64, {5})}});
  EXPECT_EQ(data.rows(), 5);
  EXPECT_EQ(data["y"].type_string(), "i64[5]");
  EXPECT_EQ(data.find("z"), nullptr);
  EXPECT_ERROR(data["targets"], "there is no field 'targets'");
}

TEST(Dataset, RefusesWithTheNumbers) {
  EXPECT_ERROR(Dataset({}), "at least one field");
  EXPECT_ERROR(Dataset({field("x", 5), field("y", 4)}), "field 'y' has 4 rows, field 'x' has 5");
  EXPECT_ERROR(Dataset({field("x", 0)}), "field 'x' has 0 rows: f32[0, 2]");
  EXPECT_ERROR(Dataset({field("x", 5), field("x", 5)}), "two fields are named 'x'");
  EXPECT_ERROR(Dataset({{"x", Array::scalar(1.f)}}), "field 'x' is a single number");
}

TEST(Dataset, SelectsRows) {
  const Dataset data(
      {{"x", Array::of<float>({3, 2}, {0, 1, 2, 3, 4, 5})}, {"y", Array::of<std::uint8_t>({3}, {7, 8, 9})}});
  const Dataset some = data.select(std::vector<std::int64_t>{2, 0, 2});
  EXPECT_TRUE(identical(some["x"], Array::of<float>({3, 2}, {4, 5, 0, 1, 4, 5})));
  EXPECT_TRUE(identical(some["y"], Array::of<std::uint8_t>({3}, {9, 7, 9})));
  EXPECT_ERROR(data.select(std::vector<std::int64_t>{3}), "row 3 of 3 rows");
  EXPECT_ERROR(data.select(std::vector<std::int64_t>{-1}), "row -1 of 3 rows");
  EXPECT_ERROR(data.select({}), "0 rows");
}

TEST(Split, IsAPartition) {
  for (const std::int64_t rows : {2, 3, 10, 101, 10000})
    for (const double fraction : {0.1, 0.25, 0.5, 0.9}) {
      const auto held = std::llround(static_cast<double>(rows) * fraction);
      if (held == 0 || held == rows) continue;
      const Split split = split_rows(rows, fraction);
      EXPECT_EQ(static_cast<long long>(split.validation.size()), held);
      EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
      EXPECT_TRUE(std::is_sorted(split.validation.begin(), split.validation.end()));
      std::vector<std::int64_t> all;
      std::merge(split.train.begin(), split.train.end(), split.validation.begin(), split.validation.end(),
                 std::back_inserter(all));
      for (std::int64_t i = 0; i < rows; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
    }
}

TEST(Split, NeverChanges) {
  EXPECT_EQ(split_rows(20, 0.25).validation, (std::vector<std::int64_t>{5, 6, 8, 10, 15}));
  EXPECT_EQ(split_rows(20, 0.25, 1).validation, split_rows(20, 0.25, 1).validation);
  EXPECT_NE(split_rows(1000, 0.25, 1).validation, split_rows(1000, 0.25, 2).validation);
}

TEST(Split, HoldsBackEachRowEquallyOften) {
  std::vector<int> held(10, 0);
  for (std::uint64_t seed = 0; seed < 4000; ++seed)
    for (const auto row : split_rows(10, 0.3, seed).validation) ++held[static_cast<std::size_t>(row)];
  for (const int n : held) EXPECT_NEAR(n, 1200, 5 * std::sqrt(4000 * 0.3 * 0.7));
}

TEST(Split, RefusesAnEmptySideWithTheNumbers) {
  EXPECT_ERROR(split_rows(4, 0.1), "fraction of 0.1 of 4 rows holds back 0 rows");
  EXPECT_ERROR(split_rows(4, 0.9), "of 4 rows leaves 0 rows to train on");
  EXPECT_ERROR(split_rows(1, 0.5), "rows");
  for (const double bad : {0.0, 1.0, -0.1, 2.0, std::nan("")})
    EXPECT_ERROR(split_rows(100, bad), "between 0 and 1");
}

}  // namespace
}  // namespace tightloop::data
