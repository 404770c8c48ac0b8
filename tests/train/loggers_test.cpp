// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/nan_guard.h>
#include <tightloop/train/loggers/csv.h>
#include <tightloop/train/loggers/hub.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/jsonl.h>
#include <tightloop/train/loggers/model_parts.h>
#include <tightloop/train/loggers/tensorboard.h>
#include <tightloop/train/run.h>
#include <tightloop/train/trainer.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace tightloop::train {
namespace {

using testing::content_of;
using testing::put;
using testing::TempDir;

struct Net : nn::Module {
  nn::Linear in{2, 4};
  nn::Linear out{4, 1};
  Parameter scale{{1}};
  void fields(nn::Fields& f) override { f("in", in)("out", out)("scale", scale); }
  Tensor operator()(const Tensor& x) { return out(relu(in(x))) * scale; }
};

data::Dataset rows(std::int64_t n) {
  Array x(DType::f32, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    x.set(2 * i, static_cast<double>(i % 7) / 7);
    x.set(2 * i + 1, static_cast<double>(i % 5) / 5);
    y.set(i, x.at(2 * i) - x.at(2 * i + 1));
  }
  return data::Dataset({{"x", x}, {"y", y}});
}

/// Writes down what it is told, one line a call.
struct Told final : Logger {
  std::string name() const override { return "told"; }
  LoggerWants wants() const override { return {.weights = true, .model = true, .samples = 2}; }
  void start(const RunInfo& i) override {
    info = i;
    say("start");
  }
  void steps(std::span<const StepRecord> records) override {
    for (const auto& r : records) {
      say(fmt::format("step {} of epoch {}", r.step, r.epoch));
      losses.push_back(r.values[0]);
      rates.push_back(r.values[1]);
    }
  }
  void epoch(const EpochRecord& e, const Weights& w) override {
    say(fmt::format("epoch {}", e.epoch));
    weights = w;
  }
  void rewind(std::int64_t step) override { say(fmt::format("rewind {}", step)); }
  void end(const History& h) override { say(fmt::format("end {}", h.epochs.size())); }
  void say(const std::string& line) { lines.push_back(line); }

  RunInfo info;
  std::vector<std::string> lines;
  std::vector<double> losses, rates;
  Weights weights;
};

struct Notes : Observer {
  void note(const std::string& text) override { notes.push_back(text); }
  std::vector<std::string> notes;
};

TrainerOptions logged(std::vector<std::shared_ptr<Logger>> loggers, std::int64_t every = 1) {
  TrainerOptions o;
  o.epochs = 2;
  o.batch = 4;
  o.metrics = {"mae"};
  o.compile.backend = Backend::reference;
  o.loggers = std::move(loggers);
  o.log_every = every;
  return o;
}

History train(Net& net, const TrainerOptions& options, double lr = 0.1) {
  const auto data = rows(12);
  return Trainer(options).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = lr}), data, data);
}

TEST(Loggers, AreToldEverythingInOrder) {
  Net net;
  const auto told = std::make_shared<Told>();
  const History history = train(net, logged({told}));
  EXPECT_EQ(told->lines,
            (std::vector<std::string>{"start", "step 1 of epoch 1", "step 2 of epoch 1", "step 3 of epoch 1",
                                      "epoch 1", "step 4 of epoch 2", "step 5 of epoch 2",
                                      "step 6 of epoch 2", "epoch 2", "end 2"}));
  EXPECT_EQ(told->info.values, (std::vector<std::string>{"loss", "lr"}));
  EXPECT_EQ(told->info.metrics, (std::vector<std::string>{"mae"}));
  EXPECT_EQ(told->info.steps, 6);
  EXPECT_EQ(told->info.samples.type_string(), "f32[2, 2]");
  EXPECT_EQ(*std::get_if<double>(told->info.description.hyperparameters.find("lr")), 0.1);
  // Batches are equally large, so the average of their losses is that of the epoch.
  for (std::size_t e = 0; e < 2; ++e)
    EXPECT_NEAR((told->losses[3 * e] + told->losses[3 * e + 1] + told->losses[3 * e + 2]) / 3,
                history.epochs[e].train_loss, 1e-6);
  EXPECT_EQ(told->rates, std::vector<double>(6, 0.1));
  ASSERT_EQ(told->weights.size(), 5u);
  for (const auto& [path, value] : told->weights)
    EXPECT_TRUE(identical(value, net.state(path).array())) << path;
}

TEST(Loggers, SeeTheStepsThatAreAskedForAndTheRateThatMoves) {
  Net net;
  const auto told = std::make_shared<Told>();
  TrainerOptions options = logged({told}, 2);
  options.update.schedule = optim::make_schedule("exponential", {{"gamma", 0.5}});
  options.update.per_step = true;
  train(net, options);
  EXPECT_EQ(
      std::count_if(told->lines.begin(), told->lines.end(), [](auto& l) { return l.starts_with("step"); }),
      3);
  EXPECT_EQ(told->rates, (std::vector<double>{0.05, 0.0125, 0.003125}));

  const auto epochs = std::make_shared<Told>();
  train(net, logged({epochs}, 0));
  EXPECT_EQ(epochs->lines, (std::vector<std::string>{"start", "epoch 1", "epoch 2", "end 2"}));
  EXPECT_ERROR(Trainer(logged({}, -2)), "log_every must be at least 1 step");
}

TEST(Loggers, WeightsAreTheSameWithAndWithoutThem) {
  Net plain, seen;
  train(plain, logged({}));
  train(seen, logged({std::make_shared<Told>()}));
  for (const auto& s : plain.states())
    EXPECT_TRUE(identical(s.array(), seen.state(s.path).array())) << s.path;
}

/// Throws when it is told about epoch 1.
struct Broken final : Logger {
  std::string name() const override { return "broken"; }
  void epoch(const EpochRecord&, const Weights&) override { throw Error("no more paper"); }
  void end(const History&) override { ++ends; }
  int ends = 0;
};

TEST(Loggers, OneThatFailsIsLeftOutWithOneNote) {
  Net net;
  Notes notes;
  const auto told = std::make_shared<Told>();
  const auto broken = std::make_shared<Broken>();
  TrainerOptions options = logged({broken, told});
  options.observer = &notes;
  options.epochs = 5;
  EXPECT_EQ(train(net, options).epochs.size(), 5u);
  EXPECT_EQ(
      notes.notes,
      (std::vector<std::string>{"logger broken: no more paper; it writes no more, the training goes on"}));
  EXPECT_EQ(broken->ends, 0);
  EXPECT_EQ(told->lines.back(), "end 5");
}

TEST(Loggers, AFullDiskEndsNoRun) {
  Net net;
  Notes notes;
  TrainerOptions options = logged({std::make_shared<JsonLines>("/dev/full")});
  options.observer = &notes;
  EXPECT_EQ(train(net, options).epochs.size(), 2u);
  ASSERT_EQ(notes.notes.size(), 1u);
  EXPECT_NE(notes.notes[0].find("logger jsonl: /dev/full: cannot be written"), std::string::npos)
      << notes.notes[0];
}

TEST(Loggers, AFolderThatIsMissingOrReadOnlyIsSaidOnce) {
  Net net;
  Notes notes;
  TrainerOptions options = logged({std::make_shared<JsonLines>("/nowhere/metrics.jsonl"),
                                   std::make_shared<TensorBoard>(TensorBoardOptions{.folder = "/proc/x"}),
                                   std::make_shared<CsvTable>("/nowhere/metrics.csv")});
  options.observer = &notes;
  EXPECT_EQ(train(net, options).epochs.size(), 2u);
  EXPECT_EQ(notes.notes.size(), 3u);
}

/// The loss of this target is lost in the second epoch's first step: the rate is far too large.
TEST(Loggers, AreToldWhenTheRunGoesBack) {
  Net net;
  Notes notes;
  const auto told = std::make_shared<Told>();
  TrainerOptions options = logged({told});
  options.epochs = 3;
  options.observer = &notes;
  options.callbacks = {std::make_shared<NanGuard>(NanGuardOptions{.factor = 1e-12, .max_rollbacks = 3})};
  train(net, options, 1e12);
  ASSERT_FALSE(notes.notes.empty());
  const auto back =
      std::find_if(told->lines.begin(), told->lines.end(), [](auto& l) { return l.starts_with("rewind"); });
  ASSERT_NE(back, told->lines.end());
  // Each step comes again after it, so that what counts is every step once.
  std::vector<std::int64_t> steps;
  for (const auto& line : told->lines) {
    if (line.starts_with("rewind"))
      std::erase_if(steps, [&](auto s) { return s > std::stoll(line.substr(7)); });
    if (line.starts_with("step")) steps.push_back(std::stoll(line.substr(5)));
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(std::isfinite(told->losses.back()));
}

TEST(Loggers, AreToldOfARunThatGoesOn) {
  TempDir dir;
  Net net;
  TrainerOptions options = logged({});
  options.callbacks = {std::make_shared<CheckpointFiles>(
      CheckpointOptions{.directory = dir.path(), .every_steps = 2, .keep = 0})};
  train(net, options);
  const auto told = std::make_shared<Told>();
  options = logged({told});
  options.resume = dir / checkpoint_name(4);
  train(net, options);
  EXPECT_EQ(told->lines, (std::vector<std::string>{"start", "rewind 4", "step 5 of epoch 2",
                                                   "step 6 of epoch 2", "epoch 2", "end 2"}));
  EXPECT_EQ(told->info.resumed_at, 4);
  EXPECT_EQ(told->info.before.size(), 1u);
}

TEST(Loggers, LbfgsTellsIterationsAndEpochs) {
  Net net;
  const auto told = std::make_shared<Told>();
  const auto data = rows(12);
  const History h = Trainer(logged({told}))
                        .fit(net, nn::make_loss("mse"), optim::Lbfgs({.lr = 0.1, .max_iter = 2}), data, data);
  EXPECT_EQ(told->lines,
            (std::vector<std::string>{"start", "step 1 of epoch 1", "step 2 of epoch 1", "epoch 1",
                                      "step 3 of epoch 2", "step 4 of epoch 2", "epoch 2", "end 2"}));
  EXPECT_EQ(told->info.values, (std::vector<std::string>{"loss", "lr"}));
  EXPECT_EQ(told->losses[1], h.epochs[0].train_loss);
  EXPECT_EQ(told->losses[3], h.epochs[1].train_loss);
  EXPECT_EQ(told->rates, std::vector<double>(4, 0.1));
  const auto seldom = std::make_shared<Told>();
  Trainer(logged({seldom}, 3)).fit(net, nn::make_loss("mse"), optim::Lbfgs({.max_iter = 2}), data, data);
  EXPECT_EQ(seldom->losses.size(), 1u);
  const auto epochs = std::make_shared<Told>();
  Trainer(logged({epochs}, 0)).fit(net, nn::make_loss("mse"), optim::Lbfgs(), data, data);
  EXPECT_EQ(epochs->lines, (std::vector<std::string>{"start", "epoch 1", "epoch 2", "end 2"}));
}

/// Takes long for everything.
struct Slow final : Logger {
  std::string name() const override { return "slow"; }
  void steps(std::span<const StepRecord> records) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    seen += records.size();
  }
  std::size_t seen = 0;
};

TEST(LogHub, ASlowLoggerHoldsNoStepUp) {
  const auto slow = std::make_shared<Slow>();
  const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"x"}, RecordedSteps{}, 64);
  LogHub hub({slow}, recorder);
  RunInfo info;
  info.values = {"x"};
  hub.start(info);
  const double x = 1;
  const RecordedScalar scalar[] = {{DType::f64, &x}};
  for (std::int64_t step = 1; step <= 100'000; ++step) recorder->write(step, scalar);
  hub.end({});
  EXPECT_EQ(slow->seen, recorder->written());
  EXPECT_EQ(recorder->written() + recorder->left_out(), 100'000u);
  EXPECT_GT(recorder->left_out(), 90'000u);
}

std::string line(std::int64_t step, std::int64_t epoch) {
  return fmt::format("{{\"kind\":\"step\",\"step\":{},\"epoch\":{},\"loss\":0.5}}\n", step, epoch);
}
std::string epoch_line(std::int64_t step, std::int64_t epoch) {
  return fmt::format("{{\"kind\":\"epoch\",\"step\":{},\"epoch\":{},\"train_loss\":0.5}}\n", step, epoch);
}

std::vector<EpochRecord> first_epoch() {
  std::vector<EpochRecord> out(1);
  out[0].epoch = 1;
  out[0].step = 2;
  return out;
}

TEST(JsonLines, LinesUntil) {
  const std::string text =
      line(1, 1) + line(2, 1) + epoch_line(2, 1) + line(3, 2) + line(4, 2) + epoch_line(4, 2);
  const std::size_t one = line(1, 1).size(), other = epoch_line(2, 1).size();
  EXPECT_EQ(lines_until(text, 4, 2), text.size());
  EXPECT_EQ(lines_until(text, 4, 1), text.size() - other) << "the epoch's record comes again";
  EXPECT_EQ(lines_until(text, 3, 2), 3 * one + other);
  EXPECT_EQ(lines_until(text, 2, 9), 2 * one + other);
  EXPECT_EQ(lines_until(text, 0, 0), 0u);
  EXPECT_EQ(lines_until("", 4, 2), 0u);
  for (std::size_t cut = 1; cut < one; ++cut)  // a process that was killed while it wrote
    EXPECT_EQ(lines_until(text + line(5, 3).substr(0, cut), 9, 9), text.size()) << cut;
  EXPECT_EQ(lines_until("no line of ours\n\n{}\n", 9, 9), 0u);
}

TEST(JsonLines, ValuesReadBackAsTheyWere) {
  TempDir dir;
  Net net;
  const auto told = std::make_shared<Told>();
  const History history = train(net, logged({std::make_shared<JsonLines>(dir / "m.jsonl"), told}));
  const std::string text = content_of(dir / "m.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  std::size_t at = 0;
  for (const double loss : told->losses) {
    at = text.find("\"loss\":", at) + 7;
    EXPECT_EQ(std::stof(text.substr(at, 30)), static_cast<float>(loss));
  }
  const std::size_t last = text.rfind("\"train_loss\":") + 13;
  EXPECT_EQ(std::stod(text.substr(last, 30)), history.epochs[1].train_loss);
}

TEST(JsonLines, NumbersThatJsonLacksAreNull) {
  TempDir dir;
  JsonLines lines(dir / "m.jsonl");
  RunInfo info;
  info.values = {"loss", "a \"b\""};
  lines.start(info);
  const double values[] = {std::nan(""), -INFINITY};
  const StepRecord record[] = {{7, 2, values}};
  lines.steps(record);
  lines.flush();
  EXPECT_EQ(content_of(dir / "m.jsonl"),
            "{\"kind\":\"step\",\"step\":7,\"epoch\":2,\"loss\":null,\"a \\\"b\\\"\":null}\n");
}

TEST(JsonLines, ARunThatGoesOnHasNoStepTwice) {
  TempDir dir;
  const std::string path = dir / "m.jsonl";
  put(path, line(1, 1) + line(2, 1) + epoch_line(2, 1) + line(3, 2) + "{\"kind\":\"st");
  JsonLines lines(path);
  RunInfo info;
  info.values = {"loss"};
  info.resumed_at = 2;
  info.before = first_epoch();
  lines.start(info);
  const double loss = 0.5;
  const StepRecord record[] = {{3, 2, std::span(&loss, 1)}};
  lines.steps(record);
  lines.end({});
  EXPECT_EQ(content_of(path), line(1, 1) + line(2, 1) + epoch_line(2, 1) + line(3, 2));
  // A run that begins anew begins the file anew.
  info.resumed_at = 0;
  lines.start(info);
  EXPECT_EQ(content_of(path), "");
}

TEST(JsonLines, EpochsThatWereNotWrittenInTimeArePutIn) {
  TempDir dir;
  const std::string path = put(dir / "m.jsonl", line(1, 1) + line(2, 1) + epoch_line(2, 1));
  JsonLines lines(path);
  RunInfo info;
  info.resumed_at = 6;
  for (std::int64_t e = 1; e <= 3; ++e) {
    info.before.emplace_back();
    info.before.back().epoch = e;
    info.before.back().step = 2 * e;
  }
  lines.start(info);
  lines.end({});
  const std::string text = content_of(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  const auto second = text.find("{\"kind\":\"epoch\",\"step\":4,\"epoch\":2,");
  EXPECT_NE(second, std::string::npos);
  EXPECT_GT(text.find("{\"kind\":\"epoch\",\"step\":6,\"epoch\":3,"), second);
}

TEST(JsonLines, EpochsBeforeAreThereWhenTheFileWasNot) {
  TempDir dir;
  JsonLines lines(dir / "m.jsonl");
  RunInfo info;
  info.resumed_at = 2;
  info.before = first_epoch();
  lines.start(info);
  lines.end({});
  EXPECT_NE(content_of(dir / "m.jsonl").find("{\"kind\":\"epoch\",\"step\":2,\"epoch\":1,"),
            std::string::npos);
}

TEST(ModelParts, FollowTheValues) {
  Net net;
  net.initialize(1);
  const auto told = std::make_shared<Told>();
  train(net, logged({told}));
  std::vector<std::string> lines;
  for (const ModelPart& p : told->info.model) {
    std::string from;
    for (const auto& f : p.from) from += " " + f;
    lines.push_back(fmt::format("{} {} <-{}", p.path, p.kind, from));
  }
  EXPECT_EQ(lines,
            (std::vector<std::string>{"x input <-", "in Linear(2, 4) <- x", "out Linear(4, 1) <- in",
                                      "scale parameter <-", "y input <-", "loss loss <- out scale y"}));
}

TEST(LoggerIndex, EachIsMadeByItsNameAndWritesToItsFolder) {
  for (const LoggerDef* def : all_loggers()) {
    TempDir dir;
    Net net;
    const auto logger = make_logger(def->name, {}, dir.path());
    EXPECT_EQ(logger->name(), def->name);
    EXPECT_EQ(dir.entries(), 0u) << "before the run";
    train(net, logged({logger}));
    EXPECT_EQ(dir.entries(), 1u) << def->name;
  }
  EXPECT_ERROR(make_logger("tensorbord", {}, ""),
               "unknown logger 'tensorbord' (did you mean 'tensorboard'?)");
  EXPECT_ERROR(make_logger("tensorboard", {{"image", std::int64_t{3}}}, ""), "did you mean 'images'?");
  EXPECT_ERROR(make_logger("tensorboard", {{"images", std::int64_t{-3}}}, ""),
               "images must be 0 to 1000, not -3");
}

}  // namespace
}  // namespace tightloop::train
