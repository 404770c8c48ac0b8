// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/window.h>

#include <set>

namespace tightloop::data {
namespace {

using Rows = std::vector<std::int64_t>;

TEST(Window, EveryPlaceThatFits) {
  EXPECT_EQ(window_rows(6, {.length = 3}), (Rows{0, 1, 2}));
  EXPECT_EQ(window_rows(6, {.length = 3}, false), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(window_rows(10, {.length = 3, .horizon = 2, .stride = 3}), (Rows{0, 3}));
  EXPECT_EQ(window_rows(4, {.length = 3}), (Rows{0}));
}

TEST(Window, NeverCrossesAGroup) {
  const Rows groups{5, 5, 5, 5, 1, 1, 9, 9, 9};
  EXPECT_EQ(window_rows(9, {.length = 2}, true, groups), (Rows{0, 1, 6}));
  EXPECT_EQ(window_rows(9, {.length = 2, .stride = 2}, false, groups), (Rows{0, 2, 4, 6}));
  EXPECT_ERROR(window_rows(4, {.length = 1}, true, Rows{1, 1, 2, 1}), "the group of row 4 was there before");
}

TEST(Window, RefusesWithTheNumbers) {
  EXPECT_ERROR(window_rows(4, {.length = 4}), "5 rows are needed (length 4 + horizon 1), and there are 4");
  EXPECT_ERROR(window_rows(4, {.length = 5}, false), "5 rows are needed (length 5), and there are 4");
  EXPECT_ERROR(window_rows(4, {.length = 3}, true, Rows{0, 0, 1, 1}),
               "in a group (length 3 + horizon 1), and the longest has 2");
  EXPECT_ERROR(window_rows(4, {.length = 0}), "length must be at least 1, not 0");
  EXPECT_ERROR(window_rows(4, {.length = 1, .stride = 0}), "stride must be at least 1, not 0");
}

/// No row that is a target in validation is seen in training, as input or target.
TEST(Window, SplitLeavesNoOverlapOfTargetsAndTraining) {
  for (const auto target : {WindowTarget::ahead, WindowTarget::shifted})
    for (const std::int64_t horizon : {1, 3}) {
      const Window w{.length = 4, .horizon = horizon, .target = target};
      Rows train, held;
      for (std::int64_t r = 0; r < 40; ++r) (r < 25 ? train : held).push_back(r);
      const WindowSplit s = split_windows(window_rows(40, w), w, 40, train, held);
      std::set<std::int64_t> seen;
      for (const auto first : s.train)
        for (std::int64_t r = first; r < first + w.span(); ++r) seen.insert(r);
      EXPECT_EQ(*seen.rbegin(), 24);
      for (const auto first : s.validation)
        for (std::int64_t r = 0; r < w.target_rows(); ++r)
          EXPECT_FALSE(seen.contains(first + w.target_first() + r));
      EXPECT_EQ(s.validation.front() + w.target_first(), 25);
      EXPECT_EQ(s.validation.back() + w.target_first() + w.target_rows(), 40);
    }
}

TEST(Window, SplitNeedsBothSides) {
  const Window w{.length = 4};
  EXPECT_ERROR(split_windows(window_rows(8, w), w, 8, Rows{0, 1, 2}, Rows{3, 4, 5, 6, 7}),
               "of 4 windows of 5 rows, 0 lie in the 3 rows that train and 4 have their target in the 5");
}

}  // namespace
}  // namespace tightloop::data
