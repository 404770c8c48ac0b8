// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/base/file.h>
#include <tightloop/train/loggers/hub.h>
#include <tightloop/train/loggers/steps.h>
#include <tightloop/train/loggers/thin_steps.h>
#include <tightloop/train/report/step_curve.h>

#include <cmath>
#include <future>

namespace tightloop::train {
namespace {

using testing::content_of;
using testing::put;
using testing::TempDir;

struct Row {
  std::int64_t step;
  double loss;
  bool operator==(const Row&) const = default;
};

/// The rows of a table, read by its layout.
std::vector<Row> rows_of(const std::string& path) {
  const std::string text = content_of(path);
  const io::NpyTable table = io::parse_npy_table(text, path);
  EXPECT_EQ(text.size(), table.start + static_cast<std::size_t>(table.rows) * table.row_bytes);
  std::vector<Row> out;
  for (std::int64_t r = 0; r < table.rows; ++r)
    out.push_back({static_cast<std::int64_t>(table.at(text, r, 0)), table.at(text, r, 1)});
  return out;
}

RunInfo info(std::int64_t resumed_at = 0) {
  RunInfo out;
  out.values = {"loss"};
  out.resumed_at = resumed_at;
  return out;
}

void tell(StepTable& table, std::int64_t first, std::int64_t last, double loss = 0.5) {
  for (std::int64_t s = first; s <= last; ++s) {
    const StepRecord record[] = {{s, 1, std::span(&loss, 1)}};
    table.steps(record);
  }
}

TEST(StepTable, HoldsEveryStep) {
  TempDir dir;
  StepTable table(dir / "steps.npy");
  table.start(info());
  tell(table, 1, 2, 0.25);
  table.flush();
  EXPECT_EQ(rows_of(dir / "steps.npy"), (std::vector<Row>{{1, 0.25}, {2, 0.25}}));
  tell(table, 3, 3, NAN);
  table.end({});
  const auto rows = rows_of(dir / "steps.npy");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(std::isnan(rows[2].loss));
}

TEST(StepTable, GoesBackAndOn) {
  TempDir dir;
  const std::string path = dir / "steps.npy";
  {
    StepTable table(path);
    table.start(info());
    tell(table, 1, 6);
    table.rewind(4);
    tell(table, 5, 5, 2);
    table.end({});
  }
  EXPECT_EQ(rows_of(path), (std::vector<Row>{{1, .5}, {2, .5}, {3, .5}, {4, .5}, {5, 2}}));
  put(path, content_of(path) + "torn");  // by a process that was killed
  {
    StepTable table(path);
    table.start(info(3));
    table.rewind(3);
    tell(table, 4, 4, 3);
    table.end({});
  }
  EXPECT_EQ(rows_of(path), (std::vector<Row>{{1, .5}, {2, .5}, {3, .5}, {4, 3}}));
  StepTable anew(path);
  anew.start(info());
  anew.end({});
  EXPECT_TRUE(rows_of(path).empty());
}

TEST(StepTable, RefusesToGoOnInAnother) {
  TempDir dir;
  const std::string path = dir / "steps.npy";
  StepTable table(path);
  table.start(info());
  RunInfo other = info(3);
  other.values = {"loss", "gradient_norm"};
  EXPECT_ERROR(table.start(other), "has other columns");
  other = info(3);
  other.step_dtype = DType::f64;
  EXPECT_ERROR(table.start(other), "has other columns");
  put(path, "no table");
  EXPECT_ERROR(table.start(info(3)), "not an NPY file");
}

TEST(StepTable, KeepsWholePrecisionWhereTheRunHasIt) {
  TempDir dir;
  StepTable table(dir / "steps.npy");
  RunInfo wide = info();
  wide.step_dtype = DType::f64;
  table.start(wide);
  tell(table, 1, 1, 0.1);
  table.end({});
  EXPECT_EQ(rows_of(dir / "steps.npy")[0].loss, 0.1);
}

/// Losses 0, 1, 2, … but for those given.
struct Steps {
  explicit Steps(std::size_t n, const std::vector<std::pair<std::size_t, double>>& others = {}) : losses(n) {
    for (std::size_t i = 0; i < n; ++i) losses[i] = static_cast<double>(i);
    for (const auto& [i, v] : others) losses[i] = v;
    for (std::size_t i = 0; i < n; ++i)
      records.push_back({static_cast<std::int64_t>(i + 1), 1, std::span(&losses[i], 1)});
  }
  std::vector<std::int64_t> kept(std::size_t keep) const {
    std::vector<StepRecord> out;
    thin_steps(records, keep, out);
    std::vector<std::int64_t> steps;
    for (const auto& r : out) steps.push_back(r.step);
    return steps;
  }
  std::vector<double> losses;
  std::vector<StepRecord> records;
};

TEST(ThinSteps, KeepsWhatACurveNeeds) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(Steps(4).kept(4), (List{1, 2, 3, 4}));
  EXPECT_EQ(Steps(9, {{4, 100}, {6, -1}}).kept(3), (List{5, 7, 9}));
  EXPECT_EQ(Steps(8).kept(6), (List{1, 4, 5, 8})) << "of two stretches, which rise";
  EXPECT_EQ(Steps(9, {{4, NAN}}).kept(0), (List{1, 5, 9})) << "one stretch at least";
  EXPECT_EQ(Steps(9, {{2, NAN}, {4, NAN}}).kept(1), (List{1, 3, 9})) << "the first that is lost";
  EXPECT_EQ(Steps(9, {{0, NAN}, {4, -1}}).kept(3), (List{1, 5, 9}));
  EXPECT_TRUE(Steps(0).kept(0).empty());
}

TEST(ThinSteps, OfManySmallBatchesFewAreKeptAndSpikesAll) {
  StepThinner thinner;
  std::vector<StepRecord> out;
  std::vector<double> losses(30'000);
  for (std::size_t i = 0; i < losses.size(); ++i)
    losses[i] = 1 + 0.1 * static_cast<double>(i * 7919 % 101) / 101;
  losses[12'345] = 5;
  losses[23'456] = NAN;
  std::vector<StepRecord> records;
  for (std::size_t i = 0; i < losses.size(); ++i)
    records.push_back({static_cast<std::int64_t>(i + 1), 1, std::span(&losses[i], 1)});
  for (std::size_t i = 0; i < records.size(); i += 30)
    thinner.thin(std::span(records).subspan(i, 30), 0.3, out);
  EXPECT_GT(out.size(), 200u);
  EXPECT_LT(out.size(), 350u);
  std::vector<std::int64_t> steps;
  for (const auto& r : out) steps.push_back(r.step);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_TRUE(std::binary_search(steps.begin(), steps.end(), 12'346));
  EXPECT_TRUE(std::binary_search(steps.begin(), steps.end(), 23'457));
  out.clear();
  for (std::size_t i = 0; i < 900; i += 30) thinner.thin(std::span(records).subspan(i, 30), 30, out);
  EXPECT_EQ(out.size(), 900u) << "all that are allowed";
}

TEST(ThinSteps, AFallingLossIsNoRowOfSpikes) {
  StepThinner thinner;
  std::vector<StepRecord> out;
  std::vector<double> losses(10'000);
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = 10 / (1 + 0.001 * static_cast<double>(i));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const StepRecord record[] = {{static_cast<std::int64_t>(i + 1), 1, std::span(&losses[i], 1)}};
    thinner.thin(record, 0, out);
  }
  EXPECT_LT(out.size(), 40u);
}

TEST(ThinSteps, TheBudgetIsSpentAndComesBack) {
  StepBudget budget(100);
  EXPECT_EQ(budget.take(4000, 100), 4000u);
  EXPECT_EQ(budget.take(9000, 100), 6000u);
  EXPECT_EQ(budget.take(9000, 100), 0u);
  EXPECT_EQ(budget.take(9000, 102), 2000u);
  EXPECT_EQ(budget.take(9000, 101), 0u) << "a clock that goes back";
  EXPECT_EQ(budget.take(99999, 1e9), 10000u);
}

struct Listener final : Logger {
  explicit Listener(bool few) : few(few) {}
  std::string name() const override { return few ? "few" : "all"; }
  LoggerWants wants() const override { return {.thinned = few}; }
  void steps(std::span<const StepRecord> records) override {
    for (const auto& r : records) {
      steps_seen.push_back(r.step);
      largest = std::max(largest, r.values[0]);
    }
  }
  bool few;
  std::vector<std::int64_t> steps_seen;
  double largest = 0;
};

TEST(LogHub, TellsAllStepsToThoseWhoWantThemAndSpikesToAll) {
  constexpr std::int64_t kSteps = 60'000, kSpike = 43'210;
  const auto few = std::make_shared<Listener>(true), all = std::make_shared<Listener>(false);
  const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"loss"}, RecordedSteps{});
  LogHub hub({few, all}, recorder, {0.1});
  double loss = 0;
  const RecordedScalar scalar[] = {{DType::f64, &loss}};
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    loss = step == kSpike ? 1000 : 1;
    recorder->write(step, scalar);
  }
  hub.start(info());
  hub.end({});
  EXPECT_EQ(all->steps_seen.size(), static_cast<std::size_t>(kSteps));
  EXPECT_LT(few->steps_seen.size(), 30'000u);
  EXPECT_TRUE(std::is_sorted(few->steps_seen.begin(), few->steps_seen.end()));
  EXPECT_EQ(few->steps_seen.back(), kSteps);
  EXPECT_EQ(few->largest, 1000);
  EXPECT_EQ(hub.thinned(), kSteps - static_cast<std::int64_t>(few->steps_seen.size()));
}

/// While it is told the first epoch, the run goes on.
struct Held final : Logger {
  std::string name() const override { return "held"; }
  void steps(std::span<const StepRecord> records) override {
    for (const auto& r : records) lines.push_back("step " + std::to_string(r.step));
  }
  void epoch(const EpochRecord& e, const Weights&) override {
    lines.push_back("epoch " + std::to_string(e.epoch));
    if (e.epoch == 1) meanwhile();
  }
  std::function<void()> meanwhile;
  std::vector<std::string> lines;
};

EpochRecord record_of(std::int64_t epoch) {
  EpochRecord out;
  out.epoch = out.step = epoch;
  return out;
}

TEST(LogHub, AnEpochComesBeforeTheStepsThatFollowIt) {
  const auto held = std::make_shared<Held>();
  const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"loss"}, RecordedSteps{});
  LogHub hub({held}, recorder);
  const double loss = 1;
  const RecordedScalar scalar[] = {{DType::f64, &loss}};
  std::promise<void> done;
  held->meanwhile = [&] {
    recorder->write(2, scalar);
    hub.epoch(record_of(2), {});
    recorder->write(3, scalar);
    done.set_value();
  };
  recorder->write(1, scalar);
  hub.epoch(record_of(1), {});
  hub.start(info());
  done.get_future().wait();
  hub.end({});
  EXPECT_EQ(held->lines, (std::vector<std::string>{"step 1", "epoch 1", "step 2", "epoch 2", "step 3"}));
}

TEST(StepCurve, OfManyStepsNoSpikeIsLost) {
  TempDir dir;
  StepTable table(dir / "steps.npy");
  table.start(info());
  for (std::int64_t s = 1; s <= 50'000; ++s) tell(table, s, s, s == 31'415 ? 1000 : s == 27'182 ? -1000 : 1);
  table.end({});
  const std::string text = content_of(dir / "steps.npy");
  const report::StepCurve curve = report::step_curve(text, "steps.npy");
  EXPECT_EQ(curve.every, 1);
  EXPECT_LE(curve.line.x.size(), 5000u);
  EXPECT_EQ(curve.line.x.front(), 1);
  EXPECT_EQ(curve.line.x.back(), 50'000);
  EXPECT_TRUE(std::is_sorted(curve.line.x.begin(), curve.line.x.end()));
  const auto at = [&](double x) {
    const auto found = std::find(curve.line.x.begin(), curve.line.x.end(), x);
    return found == curve.line.x.end() ? NAN
                                       : curve.line.y[static_cast<std::size_t>(found - curve.line.x.begin())];
  };
  EXPECT_EQ(at(31'415), 1000);
  EXPECT_EQ(at(27'182), -1000);
  EXPECT_NE(report::step_chart(dir / "steps.npy").find("Loss of single steps"), std::string::npos);
}

TEST(StepCurve, WithoutATableThereIsNone) {
  EXPECT_EQ(report::step_chart(""), "");
  EXPECT_EQ(report::step_chart("/nowhere/steps.npy"), "");
  EXPECT_ERROR(report::step_curve(io::npy_table_header({{"a", DType::f32}}, 0), "t.npy"),
               "no table of steps");
  EXPECT_EQ(report::step_curve(io::npy_table_header({{"step", DType::i64}, {"loss", DType::f32}}, 0), "t")
                .line.x.size(),
            0u);
}

}  // namespace
}  // namespace tightloop::train
