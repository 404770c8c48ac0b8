// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/train/history_table.h>

#include <cmath>

namespace tightloop::train {
namespace {

std::vector<EpochRecord> two() {
  EpochRecord a{1, 5, 0.5, {}, 100, 0.1, 0.01}, b{2, 10, 0.25, Evaluation{0.3, {7, 8}}, 200, 0.2, 0.005};
  a.extra = {{"gradient_norm", 2.0}};
  b.extra = {{"steps_per_s", 9.0}, {"gradient_norm", 1.5}};
  return {a, b};
}

TEST(HistoryTable, ComesBack) {
  const std::vector<std::string> metrics{"mae", "r2"};
  const auto epochs = two();
  const auto back =
      read_history(history_table(epochs, metrics), history_columns(epochs, metrics), metrics, "file");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].step, 5);
  EXPECT_FALSE(back[0].validation);
  EXPECT_EQ(back[0].extra, epochs[0].extra);
  EXPECT_EQ(back[1].validation->loss, 0.3);
  EXPECT_EQ(back[1].validation->metrics, (std::vector<double>{7, 8}));
  EXPECT_EQ(back[1].lr, 0.005);
  EXPECT_EQ(back[1].extra.size(), 2u);
}

TEST(HistoryTable, GrowsAsTheHistoryDoes) {
  std::vector<EpochRecord> epochs = two();
  for (std::int64_t e = 3; e <= 6; ++e) {
    epochs.push_back(epochs[1]);
    epochs.back().epoch = e;
  }
  epochs[4].extra.emplace_back("new", 3.0);
  HistoryRows rows;
  for (std::size_t n = 0; n <= epochs.size(); ++n) {
    const std::vector<EpochRecord> some(epochs.begin(), epochs.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_TRUE(identical(rows.table(some, n, {"mae", "r2"}), history_table(some, {"mae", "r2"}))) << n;
    EXPECT_EQ(rows.columns(), history_columns(some, {"mae", "r2"})) << n;
  }
  const auto first =
      read_history(rows.table(epochs, 2, {"mae", "r2"}), rows.columns(), {"mae", "r2"}, "file");
  ASSERT_EQ(first.size(), 2u) << "of a state that is older than the history";
  EXPECT_EQ(first[1].extra.size(), 2u);
  rows.clear();
  EXPECT_EQ(rows.table({epochs[3]}, 1, {"mae", "r2"}).at(0), 4);
}

TEST(HistoryTable, MetricsAreFoundByName) {
  const auto epochs = two();
  const auto back = read_history(history_table(epochs, {"mae", "r2"}), history_columns(epochs, {"mae", "r2"}),
                                 {"r2", "rmse"}, "file");
  EXPECT_EQ(back[1].validation->metrics[0], 8);
  EXPECT_TRUE(std::isnan(back[1].validation->metrics[1]));
}

TEST(HistoryTable, RefusesWhatDoesNotAgree) {
  const auto epochs = two();
  const Array table = history_table(epochs, {"mae", "r2"});
  const std::string columns = history_columns(epochs, {"mae", "r2"});
  EXPECT_ERROR(read_history(table, columns + "extra.more\n", {}, "file"), "file: is no checkpoint of a run");
  EXPECT_ERROR(read_history(table, "", {}, "file"), "file: is no checkpoint of a run");
  EXPECT_ERROR(read_history(Array(DType::f64, {3}), columns, {}, "file"), "file: is no checkpoint of a run");
}

}  // namespace
}  // namespace tightloop::train
