// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/split.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tightloop::data {
namespace {

using Rows = std::vector<std::int64_t>;

/// Both sides together are all rows, each once.
void expect_whole(const Split& s, std::int64_t rows) {
  Rows all = s.train;
  all.insert(all.end(), s.validation.begin(), s.validation.end());
  EXPECT_TRUE(std::is_sorted(s.train.begin(), s.train.end()));
  EXPECT_TRUE(std::is_sorted(s.validation.begin(), s.validation.end()));
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<std::int64_t>(all.size()), rows);
  for (std::int64_t r = 0; r < rows; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], r);
}

std::map<std::int64_t, std::int64_t> counts(const Rows& rows, const Rows& keys) {
  std::map<std::int64_t, std::int64_t> out;
  for (const auto r : rows) ++out[keys[static_cast<std::size_t>(r)]];
  return out;
}

/// 60 of class 0, 30 of class 1, 10 of class 2, mixed.
Rows classes() {
  Rows out;
  for (std::int64_t i = 0; i < 100; ++i) out.push_back(i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2);
  return out;
}

TEST(Split, StratifiedKeepsTheShares) {
  const Split s = split_by(SplitMethod::stratified, 100, 0.2, classes());
  expect_whole(s, 100);
  EXPECT_EQ(counts(s.validation, classes()), (std::map<std::int64_t, std::int64_t>{{0, 12}, {1, 6}, {2, 2}}));
  EXPECT_EQ(split_by(SplitMethod::stratified, 100, 0.2, classes()).validation, s.validation);
  EXPECT_NE(split_by(SplitMethod::stratified, 100, 0.2, classes(), 5).validation, s.validation);
  const Rows odd{0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  EXPECT_EQ(split_by(SplitMethod::stratified, 10, 0.2, odd).validation.size(), 2u);
}

TEST(Split, StratifiedRefusesWithTheNumbers) {
  EXPECT_ERROR(split_by(SplitMethod::stratified, 4, 0.5, Rows{0, 0, 0, 1}), "a class has 1 row (row 4)");
  EXPECT_ERROR(split_by(SplitMethod::stratified, 6, 0.2, Rows{0, 0, 1, 1, 2, 2}), "for 3 classes");
  EXPECT_ERROR(split_by(SplitMethod::stratified, 6, 1.5, Rows{0, 0, 1, 1, 2, 2}), "between 0 and 1");
}

TEST(Split, GroupsStayTogether) {
  Rows groups;
  for (std::int64_t i = 0; i < 50; ++i) groups.push_back(i * 7 % 10);
  const Split s = split_by(SplitMethod::group, 50, 0.3, groups);
  expect_whole(s, 50);
  const auto train = counts(s.train, groups), held = counts(s.validation, groups);
  EXPECT_EQ(held.size(), 3u);
  for (const auto& [group, n] : held) EXPECT_FALSE(train.contains(group));
  EXPECT_ERROR(split_by(SplitMethod::group, 3, 0.3, Rows{4, 4, 4}), "all 3 rows are of one group");
}

TEST(Split, TimeHoldsBackTheLast) {
  EXPECT_EQ(split_by(SplitMethod::time, 10, 0.3).validation, (Rows{7, 8, 9}));
  EXPECT_EQ(split_by(SplitMethod::time, 5, 0.4, Rows{9, 1, 5, 7, 3}).validation, (Rows{0, 3}));
  EXPECT_EQ(split_by(SplitMethod::time, 5, 0.4, Rows{0, 0, 1, 1, 2}).validation, (Rows{4}));
  EXPECT_ERROR(split_by(SplitMethod::time, 4, 0.5, Rows{1, 1, 1, 1}),
               "leave 4 to train on and 0 to validate");
}

TEST(Split, EachFoldOnce) {
  Rows groups;
  for (std::int64_t i = 0; i < 23; ++i) groups.push_back(i / 3);
  Rows two;
  for (std::int64_t i = 0; i < 23; ++i) two.push_back(i % 2);
  for (const auto method : {SplitMethod::random, SplitMethod::stratified, SplitMethod::group}) {
    Rows all;
    for (std::int64_t i = 0; i < 5; ++i) {
      const Rows& keys = method == SplitMethod::group ? groups : two;
      const Split s = fold_by(method, 23, 5, i, keys);
      expect_whole(s, 23);
      EXPECT_NEAR(static_cast<double>(s.validation.size()), 4.6, method == SplitMethod::group ? 2 : 0.7);
      all.insert(all.end(), s.validation.begin(), s.validation.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), 23u);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  }
}

/// sklearn.model_selection.GroupKFold(3) on groups of 5, 4, 3, 2, 1 rows: {5}, {4, 1}, {3, 2}.
TEST(Split, GroupFoldsAsScikitLearn) {
  const Rows groups{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  EXPECT_EQ(fold_by(SplitMethod::group, 15, 3, 0, groups).validation, (Rows{0, 1, 2, 3, 4}));
  EXPECT_EQ(fold_by(SplitMethod::group, 15, 3, 1, groups).validation, (Rows{5, 6, 7, 8, 14}));
  EXPECT_EQ(fold_by(SplitMethod::group, 15, 3, 2, groups).validation, (Rows{9, 10, 11, 12, 13}));
}

/// sklearn.model_selection.TimeSeriesSplit(3) on 10 rows.
TEST(Split, TimeFoldsAsScikitLearn) {
  const std::vector<Rows> held{{4, 5}, {6, 7}, {8, 9}};
  for (std::int64_t i = 0; i < 3; ++i) {
    const Split s = fold_by(SplitMethod::time, 10, 3, i);
    EXPECT_EQ(s.validation, held[static_cast<std::size_t>(i)]);
    EXPECT_EQ(static_cast<std::int64_t>(s.train.size()), 4 + 2 * i);
    EXPECT_EQ(s.train.back(), 3 + 2 * i);
  }
}

TEST(Split, FoldsRefuseWithTheNumbers) {
  EXPECT_ERROR(fold_by(SplitMethod::random, 3, 5, 0), "3 rows, fewer than the 5 folds");
  EXPECT_ERROR(fold_by(SplitMethod::random, 9, 1, 0), "at least 2 folds, not 1");
  EXPECT_ERROR(fold_by(SplitMethod::random, 9, 3, 3), "fold 3 is none of 0..2");
  EXPECT_ERROR(fold_by(SplitMethod::stratified, 9, 3, 0, Rows{0, 0, 0, 0, 0, 0, 1, 0, 1}),
               "a class has 2 rows (row 7 is one), fewer than the 3 folds");
  EXPECT_ERROR(fold_by(SplitMethod::group, 4, 3, 0, Rows{1, 1, 2, 2}), "2 groups, fewer than the 3 folds");
  EXPECT_ERROR(fold_by(SplitMethod::time, 3, 3, 0), "need 4 rows, there are 3");
}

TEST(Split, CodesFollowTheValues) {
  EXPECT_EQ(codes_of(Array::of<float>({4}, {2.5f, -1, 2.5f, 7})), (Rows{1, 0, 1, 2}));
  EXPECT_EQ(codes_of(Array::of<std::int64_t>({3, 1}, {9, 9, 3})), (Rows{1, 1, 0}));
  EXPECT_ERROR(codes_of(Array::of<float>({2}, {1, NAN})), "row 2 is NaN");
  EXPECT_ERROR(codes_of(Array(DType::f32, {2, 3})), "one value a row");
}

TEST(Split, BalancedWeightsAddUpEqually) {
  const auto w = balanced_weights(classes());
  std::map<std::int64_t, double> sums;
  for (std::size_t r = 0; r < w.size(); ++r) sums[classes()[r]] += w[r];
  for (const auto& [c, sum] : sums) EXPECT_NEAR(sum, 100.0 / 3, 1e-9);
}

TEST(Dataset, ConcatenatesSubsetsAndMaps) {
  const Dataset a(
      {{"x", Array::of<float>({3, 2}, {0, 1, 2, 3, 4, 5})}, {"y", Array::of<std::int64_t>({3}, {7, 8, 9})}});
  const Dataset tail = subset(a, 1, 2);
  EXPECT_TRUE(identical(tail["x"], Array::of<float>({2, 2}, {2, 3, 4, 5})));
  EXPECT_EQ(static_cast<const void*>(tail["x"].bytes()), a["x"].bytes() + 8) << "a view";
  const std::vector<Dataset> parts{tail, a};
  EXPECT_TRUE(identical(concatenate(parts)["y"], Array::of<std::int64_t>({5}, {8, 9, 7, 8, 9})));
  const auto doubled = [](const Array& v) {
    Array out = v.clone();
    for (std::int64_t i = 0; i < out.count(); ++i) out.set(i, 2 * v.at(i));
    return out;
  };
  EXPECT_EQ(map(a, "x", "x", doubled)["x"].at(5), 10);
  EXPECT_EQ(map(a, "x", "z", doubled).fields().size(), 3u);
  EXPECT_ERROR(subset(a, 2, 2), "rows 2 to 3 are not all in the 3 rows");
  EXPECT_ERROR(map(a, "x", "x", [](const Array& v) { return v.reshaped({6}); }), "field 'y' has 3 rows");
  const std::vector<Dataset> unlike{
      a, Dataset({{"x", Array(DType::f32, {2, 2})}, {"y", Array(DType::f32, {2})}})};
  EXPECT_ERROR(concatenate(unlike), "field 'y' is i64[3] in one part and f32[2]");
}

}  // namespace
}  // namespace tightloop::data
