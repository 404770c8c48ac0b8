// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>

#include <tightloop/base/random.h>
#include <tightloop/data/loader.h>
#include <tightloop/data/samples_of.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

namespace tightloop::data {
namespace {

/// Sample i is (3i + draw, i), where the draw follows from seed, epoch and i. Some cannot be made.
struct Numbers {
  std::int64_t rows = 103;
  std::set<std::int64_t> broken = {};
  int pause_us = 0;

  std::int64_t size() const { return rows; }
  auto get(std::int64_t i, const SampleKey& key) const {
    if (broken.contains(i)) throw std::runtime_error("is broken");
    if (pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    const auto words =
        philox_block(key.seed, 7, static_cast<std::uint64_t>(key.epoch), static_cast<std::uint64_t>(i));
    return std::tuple{std::array{static_cast<float>(3 * i), uniform_f32(words[0])}, i};
  }
  std::string name(std::int64_t i) const { return "number-" + std::to_string(i); }
};

Sampling shuffled(std::int64_t rows, std::int64_t batch) {
  return {.rows = rows, .batch = batch, .shuffle = true, .seed = 5};
}

struct Batch {
  std::vector<std::int64_t> numbers;
  std::vector<float> values;
  friend bool operator==(const Batch&, const Batch&) = default;
};

Batch copy(const LoadedBatch& b) {
  const auto n = b.numbers.as<std::int64_t>();
  const auto x = b.fields[0].as<float>();
  const auto y = b.fields[1].as<std::int64_t>();
  EXPECT_TRUE(std::equal(n.begin(), n.end(), y.begin(), y.end()));
  return {{n.begin(), n.end()}, {x.begin(), x.end()}};
}

std::vector<Batch> batches(Loader& loader, std::int64_t first, std::int64_t end) {
  std::vector<Batch> out;
  for (std::int64_t s = first; s < end; ++s) out.push_back(copy(loader.at(s)));
  return out;
}

TEST(Loader, CountsTheTimeThatCallersSpend) {
  struct Slow {
    std::int64_t size() const { return 8; }
    float get(std::int64_t) const {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return 1;
    }
  };
  Loader loader(samples_of(Slow{}), {.rows = 8, .batch = 4}, {.workers = 0});
  EXPECT_EQ(loader.waited_s(), 0);
  loader.at(0);
  const double one = loader.waited_s();
  EXPECT_GE(one, 0.008);
  loader.at(1);
  EXPECT_GE(loader.waited_s(), one + 0.008);
}

TEST(Loader, AnyNumberOfWorkersMakesTheSameBatchesFromAnyStepOn) {
  const auto samples = samples_of(Numbers{.pause_us = 20});
  Loader alone(samples, shuffled(103, 10), {.workers = 0});
  const auto want = batches(alone, 0, 33);
  EXPECT_EQ(want[10].numbers.size(), 3u);
  EXPECT_NE(want[0], want[11]);
  for (const int workers : {1, 2, 4, kAutomatic}) {
    Loader loader(samples, shuffled(103, 10), {.workers = workers});
    EXPECT_EQ(batches(loader, 0, 33), want) << workers;
    EXPECT_EQ(batches(loader, 5, 9), std::vector<Batch>(want.begin() + 5, want.begin() + 9)) << workers;
    Loader later(samples, shuffled(103, 10), {.workers = workers, .prefetch = 5});
    EXPECT_EQ(batches(later, 17, 33), std::vector<Batch>(want.begin() + 17, want.end())) << workers;
  }
}

TEST(Loader, BatchesBegunEarlyAreTheSame) {
  const auto samples = samples_of(Numbers{.pause_us = 20});
  Loader alone(samples, shuffled(103, 10), {.workers = 0});
  const auto want = batches(alone, 0, 33);
  for (const int workers : {0, 1, 3, kAutomatic}) {
    Loader loader(samples, shuffled(103, 10), {.workers = workers});
    loader.begin(0);
    EXPECT_EQ(batches(loader, 0, 12), std::vector<Batch>(want.begin(), want.begin() + 12)) << workers;
    loader.begin(12);
    EXPECT_EQ(batches(loader, 12, 14), std::vector<Batch>(want.begin() + 12, want.begin() + 14)) << workers;
    loader.begin(2);
    EXPECT_EQ(batches(loader, 4, 33), std::vector<Batch>(want.begin() + 4, want.end())) << workers;
  }
}

TEST(Loader, WhatIsBegunEarlyCanBeLeft) {
  std::atomic<int> made = 0;
  struct Counted {
    std::atomic<int>* made;
    std::int64_t size() const { return 1000; }
    std::int64_t get(std::int64_t i) const { return ++*made, i; }
  };
  {
    Loader loader(samples_of(Counted{&made}), {.rows = 1000, .batch = 10}, {.workers = 2, .prefetch = 3});
    made = 0;
    loader.begin(0);
    while (made < 70) std::this_thread::yield();  // all there is room for
  }
  EXPECT_EQ(made, 70);
}

TEST(Loader, AnEpochHasEverySampleOnceAndAnotherOrderAndOtherDrawsNextTime) {
  Loader loader(samples_of(Numbers{}), shuffled(103, 8), {.workers = 2});
  std::vector<std::multiset<std::int64_t>> seen(2);
  std::vector<float> draws[2] = {std::vector<float>(103), std::vector<float>(103)};
  for (std::int64_t s = 0; s < 26; ++s) {
    const Batch b = copy(loader.at(s));
    for (std::size_t i = 0; i < b.numbers.size(); ++i) {
      seen[static_cast<std::size_t>(s / 13)].insert(b.numbers[i]);
      draws[s / 13][static_cast<std::size_t>(b.numbers[i])] = b.values[2 * i + 1];
    }
  }
  std::multiset<std::int64_t> all;
  for (std::int64_t i = 0; i < 103; ++i) all.insert(i);
  EXPECT_EQ(seen[0], all);
  EXPECT_EQ(seen[1], all);
  EXPECT_NE(draws[0], draws[1]);
}

TEST(Loader, AnEvaluationIsTheSameEveryTime) {
  Loader loader(samples_of(Numbers{}), {.rows = 103, .batch = 32}, {.workers = 1, .repeat = true});
  const auto first = batches(loader, 0, 4);
  EXPECT_EQ(batches(loader, 0, 4), first);
  EXPECT_EQ(batches(loader, 4, 8), first);
}

TEST(Loader, TheErrorOfASampleHasItsNameAndComesWithItsBatch) {
  for (const int workers : {0, 3}) {
    Loader loader(samples_of(Numbers{.broken = {41, 45}}), {.rows = 103, .batch = 10}, {.workers = workers});
    for (std::int64_t s = 0; s < 4; ++s) loader.at(s);
    EXPECT_ERROR(loader.at(4), "number-41: is broken (sample 42)");
    EXPECT_EQ(copy(loader.at(5)).numbers[0], 50);
  }
}

TEST(Loader, SkippedSamplesAreLeftOutAndListed) {
  for (const int workers : {0, 3}) {
    Loader loader(samples_of(Numbers{.rows = 20, .broken = {1, 2, 5, 9, 19}}), {.rows = 20, .batch = 10},
                  {.workers = workers, .skip = true});
    EXPECT_EQ(copy(loader.at(0)).numbers, (std::vector<std::int64_t>{0, 3, 4, 6, 7, 8}));
    EXPECT_EQ(loader.at(0).fields[0].at(6), 18);
    EXPECT_EQ(loader.at(1).rows, 9);
    loader.at(2);
    ASSERT_EQ(loader.skipped().size(), 5u);
    EXPECT_EQ(loader.skipped().at(19), "number-19: is broken (sample 20)");
  }
  Loader none(samples_of(Numbers{.rows = 20, .broken = {3, 4, 5}}), {.rows = 20, .batch = 3},
              {.workers = 0, .skip = true});
  EXPECT_ERROR(none.at(1), "none of the 3 samples of a batch can be read; the first: number-3: is broken");
}

TEST(Loader, EndsAtAnyTimeWithoutMakingWhatIsLeft) {
  std::atomic<int> made = 0;
  struct Slow {
    std::atomic<int>* made;
    std::int64_t size() const { return 100000; }
    std::int64_t get(std::int64_t i) const {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++*made;
      return i;
    }
  };
  for (int i = 0; i < 5; ++i) {
    made = 0;
    Loader loader(samples_of(Slow{&made}), {.rows = 100000, .batch = 100}, {.workers = 2, .prefetch = 4});
    if (i > 2) {
      EXPECT_EQ(loader.at(i).numbers.int_at(0), 100 * i);
    }
  }
  EXPECT_LE(made, 900);
}

TEST(Loader, WorkersAreTakenWhereTheyPay) {
  EXPECT_EQ(workers_that_pay(10e-6, 10e-6, 8), 0);  // handing over costs more
  EXPECT_EQ(workers_that_pay(1e-3, 1, 8), 0);       // hidden behind the step anyhow
  EXPECT_EQ(workers_that_pay(1e-3, 2e-3, 8), 1);
  EXPECT_EQ(workers_that_pay(10e-3, 2e-3, 8), 5);
  EXPECT_EQ(workers_that_pay(1, 1e-6, 8), 7);  // the caller is the eighth
  EXPECT_EQ(workers_that_pay(1, 1, 1), 0);
}

TEST(Loader, OptionsOutOfRangeAreRefused) {
  const auto samples = samples_of(Numbers{});
  EXPECT_ERROR(Loader(samples, shuffled(103, 8), {.workers = -2}), "workers must lie between 0 and 1024");
  EXPECT_ERROR(Loader(samples, shuffled(103, 8), {.prefetch = 0}), "prefetch must lie between 1 and 1024");
}

TEST(Loader, BuffersAreWorkersTimesPrefetchTimesBatchAndOne) {
  const auto samples = samples_of(Numbers{});
  EXPECT_EQ(Loader::buffer_bytes(*samples, 10, {.workers = 3, .prefetch = 2}), 7u * 10 * (8 + 8 + 8));
}

TEST(LoadAll, PutsSamplesInMemoryInTheirOrder) {
  const auto samples = samples_of(Numbers{.broken = {70}}, {"a", "b"});
  EXPECT_ERROR(load_all(samples), "number-70");
  const Loaded all = load_all(samples, {}, {.workers = 2, .skip = true});
  EXPECT_EQ(all.data.rows(), 102);
  EXPECT_EQ(all.data["b"].int_at(70), 71);
  EXPECT_EQ(all.numbers[70], 71);
  EXPECT_EQ(all.skipped.size(), 1u);
  const std::vector<std::int64_t> rows{5, 3, 99};
  EXPECT_EQ(load_all(samples, rows).data["a"].at(2), 9);
}

TEST(LoadAll, SaysHowFarItIsAndCanBeEnded) {
  std::vector<std::int64_t> seen;
  const auto samples = samples_of(Numbers{.rows = 150});
  load_all(samples, {}, {}, [&](std::int64_t done, std::int64_t of) {
    EXPECT_EQ(of, 150);
    return seen.push_back(done), true;
  });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 64, 128}));
  EXPECT_ERROR(load_all(samples, {}, {}, [](std::int64_t done, std::int64_t) { return done < 64; }),
               "ended before all samples were made");
}

struct Named {
  std::vector<double> a;
  std::array<std::uint8_t, 3> b;
  float c;
};
struct Structs {
  std::size_t size() const { return 4; }
  Named get(std::int64_t i) const { return {std::vector<double>(i == 3 ? 1 : 2, 0.5), {1, 2, 3}, 1.5f}; }
};
struct Arrays {
  std::size_t size() const { return 2; }
  Array get(std::int64_t i) const { return Array::of<float>({1, 2}, {static_cast<float>(i), 9}); }
};

TEST(SamplesOf, TakesNumbersListsArraysTuplesAndStructs) {
  const auto s = samples_of(Structs{});
  ASSERT_EQ(s->fields().size(), 3u);
  EXPECT_EQ(s->fields()[0].name, "x0");
  EXPECT_EQ(s->fields()[1].dtype, DType::u8);
  EXPECT_EQ(s->fields()[2].name, "y");
  EXPECT_TRUE(s->fields()[2].dims.empty());
  const Dataset types = prototype(*s);
  EXPECT_EQ(types["x0"].type_string(), "f64[1, 2]");
  Loader loader(s, {.rows = 4, .batch = 4}, {.workers = 0});
  EXPECT_ERROR(loader.at(0), "sample 4: 'x0' has 1 values, in sample 1 it had 2");
  EXPECT_EQ(load_all(samples_of(Arrays{})).data["x"].type_string(), "f32[2, 1, 2]");
  EXPECT_ERROR(samples_of(Structs{}, {"only"}), "a sample has 3 fields, 1 names came");
  EXPECT_ERROR(samples_of(Numbers{.rows = 0}), "the data set has no samples");
}

}  // namespace
}  // namespace tightloop::data
