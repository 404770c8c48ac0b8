// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/columns.h>

namespace tightloop::data {
namespace {

using Names = std::vector<std::string>;
using Places = std::vector<std::size_t>;
const Names kHave{"x2", "y", "x10", "x1", "f", "a*"};

TEST(Columns, Patterns) {
  EXPECT_TRUE(matches("x*", "x"));
  EXPECT_TRUE(matches("x*", "x10"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*a*b?", "xxaybbz"));
  EXPECT_TRUE(matches("?", "x"));
  EXPECT_FALSE(matches("x*", "y"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_FALSE(matches("x", "xx"));
  EXPECT_FALSE(matches("", "x"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(Columns, SelectsInTheOrderOfTheFile) {
  EXPECT_EQ(select_columns(kHave, {"x*"}, "t"), (Places{0, 2, 3}));
  EXPECT_EQ(select_columns(kHave, {"f", "x1", "x*"}, "t"), (Places{4, 3, 0, 2}));
  EXPECT_EQ(select_columns(kHave, {"x?"}, "t"), (Places{0, 3}));
  EXPECT_EQ(select_columns(kHave, {"a*"}, "t"), Places{5});
  EXPECT_EQ(select_columns(kHave, {"*"}, "t", {"y", "f"}), (Places{0, 2, 3, 5}));
  EXPECT_EQ(select_columns(kHave, {"y"}, "t", {"y"}), Places{1});
}

TEST(Columns, RefusesWhatSelectsNothing) {
  EXPECT_ERROR(select_columns(kHave, {"z*"}, "t.csv"), "t.csv: no column matches 'z*'");
  EXPECT_ERROR(select_columns({"price", "size"}, {"prise*"}, "t"),
               "(did you mean 'price'?); it has 2: 'price', 'size'");
  EXPECT_ERROR(select_columns(kHave, {"y*"}, "t", {"y"}), "no column matches 'y*'");
  EXPECT_ERROR(select_columns(kHave, {"x1", "x1"}, "t"), "'x1' is selected twice");
  EXPECT_ERROR(select_columns(kHave, {}, "t"), "no column is selected");
}

TEST(Columns, LongListsAreShortened) { EXPECT_EQ(name_list({"a", "b", "c"}, 2), "'a', 'b' and 1 more"); }

}  // namespace
}  // namespace tightloop::data
