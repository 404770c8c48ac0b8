// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/base/error.h>
#include <tightloop/base/random.h>
#include <tightloop/base/sampling.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace tightloop {
namespace {

using Rows = std::vector<std::int64_t>;

Rows rows_of_step(const Sampling& s, std::int64_t step) {
  const auto b = s.at(step);
  Rows out(static_cast<std::size_t>(b.size));
  s.fill(b, out.data());
  return out;
}

Rows rows_of_epoch(const Sampling& s, std::int64_t epoch) {
  Rows all;
  const auto per_epoch = s.steps_per_epoch();
  for (std::int64_t i = 0; i < per_epoch; ++i) {
    const Rows part = rows_of_step(s, epoch * per_epoch + i);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

bool is_permutation(Rows rows) {
  std::sort(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

TEST(Sampling, EveryRowOnceForEverySmallSize) {
  for (std::int64_t n = 1; n <= 300; ++n)
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0xfeedfacecafebeef}}) {
      const Sampling s{.rows = n, .batch = 7, .shuffle = true, .seed = seed};
      const Rows rows = rows_of_epoch(s, 2);
      ASSERT_EQ(rows.size(), static_cast<std::size_t>(n));
      ASSERT_TRUE(is_permutation(rows)) << "n=" << n << " seed=" << seed;
    }
}

TEST(Sampling, EveryRowOnceForLargeSizes) {
  for (const std::int64_t n : {65535, 65536, 65537, 1000003}) {
    const Sampling s{.rows = n, .batch = 4096, .shuffle = true, .seed = 5};
    EXPECT_TRUE(is_permutation(rows_of_epoch(s, 0))) << n;
  }
}

TEST(Sampling, HugeSizesStayInsideAndDiffer) {
  for (const std::int64_t n :
       {(std::int64_t{1} << 31) - 1, (std::int64_t{1} << 31) + 12345, std::int64_t{1} << 45}) {
    Sampling s{.rows = n, .batch = 5000, .shuffle = true, .seed = 5};
    Rows rows = rows_of_step(s, s.steps_per_epoch() - 2);
    EXPECT_EQ(*std::min_element(rows.begin(), rows.end()) >= 0, true);
    EXPECT_LT(*std::max_element(rows.begin(), rows.end()), n);
    EXPECT_GT(*std::max_element(rows.begin(), rows.end()), n / 2);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
  }
}

TEST(Sampling, FillAgreesWithPermuted) {
  const Sampling s{.rows = 1234, .batch = 100, .shuffle = true, .seed = 9};
  const Rows rows = rows_of_epoch(s, 3);
  for (std::int64_t i = 0; i < 1234; ++i)
    ASSERT_EQ(rows[static_cast<std::size_t>(i)], permuted(i, 1234, 9, 3));
}

TEST(Sampling, OrderDoesNotDependOnTheBatchSize) {
  Sampling s{.rows = 777, .batch = 1, .shuffle = true, .seed = 4};
  const Rows wanted = rows_of_epoch(s, 1);
  for (const std::int64_t batch : {2, 64, 777, 10000}) {
    s.batch = batch;
    EXPECT_EQ(rows_of_epoch(s, 1), wanted) << batch;
  }
}

TEST(Sampling, EpochsAndSeedsGiveOtherOrders) {
  Sampling s{.rows = 100, .batch = 100, .shuffle = true, .seed = 4};
  const Rows first = rows_of_epoch(s, 0);
  EXPECT_NE(rows_of_epoch(s, 1), first);
  s.seed = 5;
  EXPECT_NE(rows_of_epoch(s, 0), first);
}

TEST(Sampling, KeepsTheShortLastBatchUnlessTold) {
  Sampling s{.rows = 10, .batch = 4};
  EXPECT_EQ(s.steps_per_epoch(), 3);
  EXPECT_EQ(rows_of_step(s, 2), (Rows{8, 9}));
  EXPECT_EQ(rows_of_step(s, 3), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(s.at(5).epoch, 1);
  s.drop_last = true;
  EXPECT_EQ(s.steps_per_epoch(), 2);
  EXPECT_EQ(rows_of_step(s, 2), (Rows{0, 1, 2, 3}));
}

TEST(Sampling, RefusesToBeEmpty) {
  EXPECT_THROW((Sampling{.rows = 0, .batch = 4}.at(0)), InternalError);
  EXPECT_THROW((Sampling{.rows = 3, .batch = 4, .drop_last = true}.at(0)), InternalError);
}

TEST(Sampling, DrawsFromTheSubset) {
  const Rows order{3, 14, 15, 92, 65};
  const Sampling s{
      .rows = 5, .batch = 2, .shuffle = true, .seed = 1, .subset = order.data(), .data_rows = 100};
  Rows rows = rows_of_epoch(s, 0);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Rows{3, 14, 15, 65, 92}));
}

/// Where each row lands over many epochs is uniform: chi-square over (row, place) bins.
TEST(Sampling, PlacesAreUniform) {
  constexpr std::int64_t n = 40;
  constexpr int epochs = 8000;
  std::vector<double> counts(n * n, 0);
  const Sampling s{.rows = n, .batch = n, .shuffle = true, .seed = 77};
  for (int e = 0; e < epochs; ++e) {
    const Rows rows = rows_of_step(s, e);
    for (std::int64_t i = 0; i < n; ++i)
      counts[static_cast<std::size_t>(i * n + rows[static_cast<std::size_t>(i)])] += 1;
  }
  const double expected = static_cast<double>(epochs) / n;
  double chi = 0;
  for (const double c : counts) chi += (c - expected) * (c - expected) / expected;
  const double freedom = (n - 1) * (n - 1);
  EXPECT_LT(std::abs(chi - freedom), 6 * std::sqrt(2 * freedom));
}

/// Neighbours in the order are not neighbours in the data more often than chance has it.
TEST(Sampling, NeighboursAreScattered) {
  constexpr std::int64_t n = 60000;
  const Sampling s{.rows = n, .batch = n, .shuffle = true, .seed = 3};
  const Rows rows = rows_of_step(s, 0);
  double mean = 0;
  double correlation = 0;
  const double middle = (n - 1) / 2.0;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    mean += static_cast<double>(std::abs(rows[i] - rows[i + 1])) / n;
    correlation += (static_cast<double>(rows[i]) - middle) * (static_cast<double>(rows[i + 1]) - middle) /
                   (n / 12.0 * n);
  }
  EXPECT_NEAR(mean / n, 1.0 / 3, 0.01);
  EXPECT_NEAR(correlation / n, 0, 5 / std::sqrt(n));
}

/// Every row is drawn as often as its weight says; a weight of 0 never.
TEST(Sampling, WeightedDrawsByWeight) {
  const std::vector<double> weights{1, 0, 3, 0.5, 0, 2.5, 1e-9};
  const auto table = alias_table(weights);
  const Sampling s{.rows = 7, .batch = 64, .seed = 11, .weighted = table.data()};
  std::vector<double> counts(7, 0);
  double drawn = 0;
  for (std::int64_t e = 0; e < 40000; ++e)
    for (const auto r : rows_of_epoch(s, e)) counts[static_cast<std::size_t>(r)] += 1, drawn += 1;
  EXPECT_EQ(drawn, 280000);
  for (std::size_t r = 0; r < 7; ++r) {
    const double p = weights[r] / (7 + 1e-9);
    EXPECT_NEAR(counts[r] / drawn, p, 5 * std::sqrt(p * (1 - p) / drawn)) << r;
  }
  EXPECT_EQ(counts[1] + counts[4], 0);
}

TEST(Sampling, WeightedDrawsDependOnSeedEpochAndPositionAlone) {
  const std::vector<double> weights(1000, 1);
  const auto table = alias_table(weights);
  Sampling s{.rows = 1000, .batch = 1, .seed = 3, .weighted = table.data()};
  const Rows one = rows_of_epoch(s, 2);
  s.batch = 77;
  EXPECT_EQ(rows_of_epoch(s, 2), one);
  EXPECT_NE(rows_of_epoch(s, 3), one);
  Rows dealt(1000);
  for (s.rank = 0, s.ranks = 2; s.rank < 2; ++s.rank) {
    const Rows part = rows_of_epoch(s, 2);
    for (std::size_t i = 0; i < part.size(); ++i) dealt[2 * i + static_cast<std::size_t>(s.rank)] = part[i];
  }
  EXPECT_EQ(dealt, one);
}

TEST(Sampling, AliasTableHoldsTheWeightsExactly) {
  std::vector<double> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(i % 7 == 0 ? 0 : (i * 7919 % 1009) / 3.0);
  const auto table = alias_table(weights);
  std::vector<double> share(weights.size(), 0);
  for (std::size_t c = 0; c < table.size(); ++c) {
    share[c] += table[c].keep;
    share[static_cast<std::size_t>(table[c].other)] += 1 - table[c].keep;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t r = 0; r < weights.size(); ++r) EXPECT_NEAR(share[r], 1000 * weights[r] / sum, 1e-10);
}

/// The definition, draw by draw.
TEST(Sampling, WeightedDrawsFollowTheTable) {
  std::vector<double> weights;
  for (int i = 0; i < 1001; ++i) weights.push_back(i % 5);
  const auto table = alias_table(weights);
  const Sampling s{.rows = 1001, .batch = 1001, .seed = 0x123456789abcdef, .weighted = table.data()};
  const Rows rows = rows_of_epoch(s, 7);
  for (std::uint64_t i = 0; i < 1001; ++i) {
    const auto w = philox_block(s.seed, 0x77656967, 7, i);
    const double place = (w[0] + w[1] * 0x1p-32) * 0x1p-32 * 1001;
    const AliasEntry& entry = table[static_cast<std::size_t>(place)];
    const auto wanted = uniform_f64(w[2], w[3]) < entry.keep ? static_cast<std::int64_t>(place) : entry.other;
    ASSERT_EQ(rows[i], wanted);
  }
}

std::string message_of(const std::vector<double>& weights) {
  try {
    alias_table(weights);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Sampling, RefusesWeightsThatAreNone) {
  EXPECT_EQ(message_of({1, -2}), "the weight of row 2 is -2; weights are finite and at least 0");
  EXPECT_NE(message_of({std::nan("")}).find("row 1 is nan"), std::string::npos);
  EXPECT_NE(message_of({0, 0}).find("add up to 0"), std::string::npos);
  EXPECT_NE(message_of({}).find("0 rows"), std::string::npos);
}

/// Training ranks see equally many rows; those at the end are the first again, or with drop_last left out.
TEST(Sampling, EvenRanksEndTogether) {
  Sampling s{.rows = 5, .batch = 2, .shuffle = true, .seed = 8, .ranks = 2};
  const Rows order = rows_of_epoch({.rows = 5, .batch = 5, .shuffle = true, .seed = 8}, 1);
  EXPECT_EQ(rows_of_epoch(s, 1), (Rows{order[0], order[2], order[4]}));
  s.rank = 1;
  EXPECT_EQ(rows_of_epoch(s, 1), (Rows{order[1], order[3], order[0]}));
  EXPECT_EQ(s.steps_per_epoch(), 2);
  s.drop_last = true;
  EXPECT_EQ(rows_of_epoch(s, 1), (Rows{order[1], order[3]}));
  s = {.rows = 2, .batch = 2, .rank = 4, .ranks = 5};
  EXPECT_EQ(rows_of_epoch(s, 0), (Rows{0}));
}

/// 5 samples on 2 ranks are 5, not 6.
TEST(Sampling, EvaluationSeesEachRowOnce) {
  for (const std::int64_t rows : {1, 5, 6, 97})
    for (const std::int64_t ranks : {2, 3, 8}) {
      Rows all;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Sampling s{.rows = rows, .batch = 2, .rank = rank, .ranks = ranks, .even = false};
        for (std::int64_t step = 0; step < s.steps_per_epoch(); ++step) {
          const Rows part = rows_of_step(s, step);
          all.insert(all.end(), part.begin(), part.end());
        }
      }
      EXPECT_TRUE(is_permutation(all)) << rows << " on " << ranks;
      EXPECT_EQ(static_cast<std::int64_t>(all.size()), rows);
    }
}

}  // namespace
}  // namespace tightloop
