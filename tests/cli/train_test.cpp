// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/io/npy.h>
#include <tightloop/io/safetensors.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace tightloop::cli {
namespace {

struct Command : testing::Test {
  void SetUp() override {
    folder.write("train.csv", table());
    folder.write("job.toml", kJob);
  }
  Outcome run(const std::string& arguments) const { return tightloop(folder, arguments); }
  Folder folder;
};

TEST_F(Command, HelpAndVersion) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"train", "check", "evaluate", "predict", "bench", "Examples:", "Exit status"})
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  EXPECT_EQ(run("--version").out, "tightloop 0.1.0\n");
  for (const char* name : {"train", "check", "evaluate", "predict", "bench"})
    EXPECT_NE(run(std::string(name) + " --help").out.find("Example: "), std::string::npos) << name;
}

TEST_F(Command, TrainWritesAWholeRun) {
  const Outcome o = run("train job.toml");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("trained 30 steps"), std::string::npos) << o.out;
  const auto model = io::read_safetensors(folder / "run/model.safetensors");
  ASSERT_NE(model.find("lin.weight"), nullptr);
  EXPECT_EQ(model.find("lin.weight")->type_string(), "f32[1, 2]");
  EXPECT_EQ(model.find("par")->type_string(), "f32[1]");
  const std::string metrics = folder.read("run/metrics.csv");
  EXPECT_EQ(metrics.substr(0, metrics.find('\n')),
            "epoch,step,train_loss,validation_loss,mae,lr,samples_per_s,seconds");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 6);
  const auto split = nlohmann::json::parse(folder.read("run/split.json"));
  EXPECT_EQ(split["validation"].size(), 15u);
  EXPECT_TRUE(folder.has("run/normalization.safetensors"));
  EXPECT_EQ(run("check run/job.toml").status, 0);
}

TEST_F(Command, GroupsAreListedByCheckAndKeptWithTheRun) {
  const std::string groups =
      " --set train.optimizer.weight_decay=0.1 --set "
      "train.group='[{match=\"par\",lr=0.5,weight_decay=0},{match=\"*\",lr=0}]'";
  const Outcome o = run("check job.toml" + groups);
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("par                  lr 0.5        weight_decay 0          group par\n"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("lin.weight           lr 0          weight_decay 0.1        group *\n"),
            std::string::npos)
      << o.out;
  ASSERT_EQ(run("train job.toml" + groups).status, 0);
  EXPECT_EQ(run("check run/job.toml").out.find("in no group"), std::string::npos);
  EXPECT_NE(run("check run/job.toml").out.find("group par"), std::string::npos);
}

TEST_F(Command, LbfgsTrainsAJob) {
  const std::string lbfgs = " --set train.optimizer='{name=\"lbfgs\",line_search_fn=\"strong_wolfe\"}'";
  for (const char* batch : {" --set data.batch=1000", " --set data.batch=8"}) {
    const Outcome o = run("train job.toml --verify --out q" + lbfgs + batch);
    ASSERT_EQ(o.status, 0) << o.out;
    const std::string metrics = folder.read("q/metrics.csv");
    EXPECT_NE(metrics.find("\n5,5,"), std::string::npos) << metrics;
  }
  EXPECT_EQ(run("check job.toml" + lbfgs).status, 0);
  EXPECT_EQ(run("bench job.toml --seconds 0.1" + lbfgs).status, 0);
}

TEST_F(Command, TheSameJobGivesTheSameBits) {
  run("train job.toml --out a");
  run("train job.toml --out b");
  run("train a/job.toml --out c --threads 2");
  EXPECT_FALSE(folder.read("a/model.safetensors").empty());
  EXPECT_EQ(folder.read("a/model.safetensors"), folder.read("b/model.safetensors"));
  EXPECT_EQ(folder.read("a/model.safetensors"), folder.read("c/model.safetensors"));
  run("train job.toml --out d --seed 2");
  EXPECT_NE(folder.read("a/model.safetensors"), folder.read("d/model.safetensors"));
}

TEST_F(Command, VerifyAgrees) {
  const Outcome o = run("train job.toml --verify");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("verify: compiled and interpreted values agree in the first 3 steps\n"),
            std::string::npos)
      << o.out;
}

TEST_F(Command, ParametersMayBeCalledWhatAStepHas) {
  for (const char* name : {"first", "rows", "step", "seed"})
    for (const char* order : {"true", "false"}) {
      SCOPED_TRACE(std::string(name) + " shuffled " + order);
      std::string job = with(kJob, "par = [1]", std::string(name) + " = [1]");
      job = with(with(job, "par * f", std::string(name) + " * f"), "validation = 0.25",
                 std::string("shuffle = ") + order);
      folder.write("named.toml", job);
      const Outcome o = run("train named.toml");
      ASSERT_EQ(o.status, 0) << o.out;
      const auto model = io::read_safetensors(folder / "run/model.safetensors");
      for (const auto& [path, value] : model.tensors)
        if (path == name) {
          EXPECT_NE(value.at(0), 0) << "not trained";
        }
    }
}

/// 24 grainy images, light and dark ones by turns.
TEST_F(Command, AResNetTrainsAsInterpreted) {
  Array x(DType::f32, {24, 3, 8, 8}), label(DType::i64, {24});
  for (std::int64_t i = 0; i < x.count(); ++i)
    x.set(i, (i / 192 % 2 == 0 ? 1 : -1) + 0.5 * std::sin(static_cast<double>(i * i % 1009)));
  for (std::int64_t i = 0; i < label.count(); ++i) label.set_int(i, i % 2);
  io::write_npy(folder / "x.npy", x);
  io::write_npy(folder / "label.npy", label);
  folder.write("images.toml", R"(seed = 1
[data]
inputs = { x = "x.npy" }
target = { label = "label.npy" }
batch = 8
[model]
forward = 'y = resnet18(x, classes=10, stem="cifar", width=8)'
[train]
epochs = 1
loss = "cross_entropy"
optimizer = { name = "sgd", lr = 0.05 }
)");
  const Outcome o = run("train images.toml --verify");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("trained 3 steps"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("verify: compiled and interpreted values agree in the first 3 steps\n"),
            std::string::npos)
      << o.out;
  const auto model = io::read_safetensors(folder / "run/model.safetensors");
  EXPECT_EQ(model.tensors.size(), 122u);
  for (const auto& [path, value] : model.tensors)
    if (path.ends_with("num_batches_tracked")) {
      EXPECT_EQ(value.int_at(0), 3) << path;
    }
}

TEST_F(Command, EvaluateGivesTheLastValidationLoss) {
  run("train job.toml");
  const std::string metrics = folder.read("run/metrics.csv");
  const std::string last = metrics.substr(metrics.rfind('\n', metrics.size() - 2) + 1);
  std::stringstream line(last);
  std::vector<std::string> fields;
  for (std::string field; std::getline(line, field, ',');) fields.push_back(field);
  const auto e = nlohmann::json::parse(run("evaluate run --json").out);
  EXPECT_NEAR(e["loss"].get<double>(), std::stod(fields[3]), 1e-9);
  EXPECT_NEAR(e["mae"].get<double>(), std::stod(fields[4]), 1e-9);
  EXPECT_EQ(e["rows"], 15);
  EXPECT_EQ(nlohmann::json::parse(run("evaluate run --data train.csv --json").out)["rows"], 60);
}

TEST_F(Command, PredictWritesCsvAndNpy) {
  run("train job.toml --set train.epochs=200 --set data.normalize=standard --quiet");
  folder.write("new.csv", "f,x0,x1\n0.5,1,-1\n-1,0,0.25\n");
  EXPECT_EQ(run("predict run new.csv -o out.csv").status, 0);
  EXPECT_EQ(run("predict run new.csv -o out.npy").status, 0);
  const Array y = io::read_npy(folder / "out.npy");
  EXPECT_EQ(y.type_string(), "f32[2, 1]");
  EXPECT_NEAR(y.at(0), 4.5, 0.3);
  EXPECT_NEAR(y.at(1), -3.5, 0.3);
  EXPECT_EQ(folder.read("out.csv").substr(0, 2), "y\n");
}

TEST_F(Command, ClassesByNumberAndByName) {
  std::string job = with(kJob, "target = { y = \"y\" }", "target = { c = \"kind\" }");
  job = with(with(with(job, "linear(x, 1,", "linear(x, 3,"), "\"mse\"", "\"cross_entropy\""), "\"mae\"",
             "\"accuracy\"");
  folder.write("names.toml", job);
  folder.write("numbers.toml", with(job, "\"kind\"", "\"label\""));
  EXPECT_EQ(run("train names.toml --out names").status, 0);
  EXPECT_EQ(run("train numbers.toml --out numbers").status, 0);
  EXPECT_EQ(nlohmann::json::parse(run("evaluate names --json").out),
            nlohmann::json::parse(run("evaluate numbers --json").out));
  EXPECT_EQ(run("predict names train.csv -o p.csv").status, 0);
  EXPECT_EQ(folder.read("p.csv").substr(0, 12), "cat,dog,eel\n");
}

TEST_F(Command, MoreClassesThanScoresAreRefusedBeforeTheFirstStep) {
  std::string job = with(kJob, "target = { y = \"y\" }", "target = { c = \"kind\" }");
  job = with(with(job, "linear(x, 1,", "linear(x, 2,"), "\"mse\"", "\"cross_entropy\"");
  folder.write("names.toml", with(job, "\"mae\"", "\"accuracy\""));
  const Outcome o = run("train names.toml");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("column 'kind' has 3 classes (cat, dog, eel), the model gives 2 scores"),
            std::string::npos)
      << o.out;
}

TEST_F(Command, AnArrayForAModelOfATableIsRefusedWithTheColumns) {
  run("train job.toml --quiet");
  io::write_npy(folder / "x.npy", Array(DType::f32, {4, 3}));
  const Outcome o = run("predict run x.npy -o out.csv");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("x.npy: is one array; the model wants a table (CSV) with the columns x0, x1, f"),
            std::string::npos)
      << o.out;
}

TEST_F(Command, WeightsStartFromAnotherRun) {
  run("train job.toml --out a");
  const Outcome o =
      run("train job.toml --out b --set model.weights=a/model.safetensors --set train.optimizer.lr=0.0");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_EQ(folder.read("a/model.safetensors"), folder.read("b/model.safetensors"));
}

TEST_F(Command, CheckPrintsLayersAndBytes) {
  const Outcome o = run("check job.toml");
  EXPECT_EQ(o.status, 0);
  for (const char* words : {"batch = 8", "Linear(2, 1)", "lin.weight", "4 parameters",
                            "45 training rows, 15 validation rows, 6 steps"})
    EXPECT_NE(o.out.find(words), std::string::npos) << words << "\n" << o.out;
  EXPECT_FALSE(folder.has("run"));
}

TEST_F(Command, ParametersOutsideTheLossAreNamed) {
  const std::string said = "warning: no part in the loss, and so not trained: ";
  EXPECT_EQ(run("check job.toml").out.find(said), std::string::npos);
  folder.write("idle.toml", with(kJob, "y = linear(x, 1, name=\"lin\") + par * f",
                                 "h = linear(x, 4, name=\"aside\")\ny = linear(x, 1, name=\"lin\")"));
  for (const char* command : {"check", "train"}) {
    const Outcome o = run(std::string(command) + " idle.toml");
    EXPECT_EQ(o.status, 0);
    EXPECT_NE(o.out.find(said), std::string::npos) << o.out;
    for (const char* path : {"aside.weight", "aside.bias", "par"})
      EXPECT_NE(o.out.find(path, o.out.find(said)), std::string::npos) << o.out;
  }
}

TEST_F(Command, BenchPrintsOneJsonObject) {
  const auto r = nlohmann::json::parse(run("bench job.toml --json --seconds 0.1").out);
  for (const char* key : {"us_per_step", "steps", "compile_ms", "first_step_ms", "samples_per_s", "gflops",
                          "peak_gflops", "peak_share", "threads", "planned_bytes", "peak_bytes"})
    EXPECT_GT(r.at(key).get<double>(), 0) << key;
  EXPECT_FALSE(folder.has("run"));
}

TEST_F(Command, QuietPrintsNothing) { EXPECT_EQ(run("train job.toml --quiet").out, ""); }

TEST_F(Command, AnEarlierRunIsReplacedAndForeignFilesStay) {
  run("train job.toml");
  folder.write("run/notes.txt", "mine");
  EXPECT_EQ(run("train job.toml --set train.epochs=1").status, 0);
  EXPECT_EQ(folder.read("run/notes.txt"), "mine");
  const std::string metrics = folder.read("run/metrics.csv");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 2);
}

TEST_F(Command, AKilledRunLeavesTheEarlierOneWholeAndTheNextOneClearsUp) {
  const std::string killed =
      "train job.toml --set train.epochs=1000000000 --quiet & pid=$!; sleep 2; kill -KILL $pid; wait $pid";
  const std::string left = "run/.tightloop-unfinished";
  run(killed);
  EXPECT_TRUE(folder.has(left + "/metrics.csv"));
  EXPECT_FALSE(folder.has("run/job.toml"));
  ASSERT_EQ(run("train job.toml").status, 0);
  EXPECT_FALSE(folder.has(left));
  const std::string job = folder.read("run/job.toml"), model = folder.read("run/model.safetensors");
  run(killed);
  EXPECT_EQ(folder.read("run/job.toml"), job);
  EXPECT_EQ(folder.read("run/model.safetensors"), model);
  EXPECT_EQ(run("evaluate run").status, 0);
  EXPECT_EQ(run("train job.toml --set train.epochs=1").status, 0);
  EXPECT_FALSE(folder.has(left));
  EXPECT_NE(folder.read("run/job.toml"), job);
}

TEST_F(Command, InterruptEndsAfterTheChunkAndSaves) {
  const std::string arguments =
      "train job.toml --set train.epochs=1000000000 & pid=$!; sleep 2; kill -INT $pid; wait $pid";
  const Outcome o = run(arguments);
  EXPECT_EQ(o.status, 75) << o.out;
  EXPECT_NE(o.out.find("stopped after"), std::string::npos) << o.out;
  EXPECT_NE(io::read_safetensors(folder / "run/model.safetensors").find("par"), nullptr);
}

TEST_F(Command, TwoRunsDoNotShareAFolder) {
  const std::string second = "cd " + folder.path() + "; " + places::command() + " train job.toml 2>&1";
  const Outcome o = run("train job.toml --quiet --set train.epochs=1000000000 & pid=$!; sleep 2; " + second +
                        "; status=$?; kill -INT $pid; wait $pid; (exit $status)");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("run: another run is being written there"), std::string::npos) << o.out;
  EXPECT_NE(io::read_safetensors(folder / "run/model.safetensors").find("par"), nullptr);
}

TEST_F(Command, MetricsOfOneNameAreToldApart) {
  std::string job = with(kJob, "target = { y = \"y\" }", "target = { c = \"kind\" }");
  job = with(with(job, "linear(x, 1,", "linear(x, 3,"), "\"mse\"", "\"cross_entropy\"");
  folder.write("top.toml",
               with(job, "[\"mae\"]", "[{ name = \"top_k\", k = 1 }, { name = \"top_k\", k = 3 }]"));
  ASSERT_EQ(run("train top.toml").status, 0);
  EXPECT_EQ(nlohmann::json::parse(run("evaluate run --json").out)["top_k_2"], 1);
}

TEST_F(Command, TerminationEndsAndSavesAlike) {
  const Outcome o =
      run("train job.toml --set train.epochs=1000000000 & pid=$!; sleep 2; kill -TERM $pid; wait $pid");
  EXPECT_EQ(o.status, 75) << o.out;
  EXPECT_NE(io::read_safetensors(folder / "run/model.safetensors").find("par"), nullptr);
}

TEST_F(Command, AReaderWhoGoesDoesNotEndTheTraining) {
  run("train job.toml | true");
  EXPECT_NE(io::read_safetensors(folder / "run/model.safetensors").find("par"), nullptr);
}

/// A pattern means the columns of the training table, also where another table has them in another order or
/// has more.
TEST_F(Command, ColumnsAreFoundByNameInOtherTables) {
  run("train job.toml --quiet");
  folder.write("same.csv", "x0,x1,f,y\n1,-1,0.5,4.5\n");
  folder.write("other.csv", "x2,f,x1,y,x0\n9,0.5,-1,4.5,1\n");
  for (const char* name : {"same", "other"})
    EXPECT_EQ(run(std::string("predict run ") + name + ".csv -o " + name + ".out.csv").status, 0);
  EXPECT_EQ(folder.read("same.out.csv"), folder.read("other.out.csv"));
  EXPECT_EQ(run("evaluate run --data same.csv").out, run("evaluate run --data other.csv").out);
  run("train job.toml --out a --quiet --set data.validation=same.csv");
  run("train job.toml --out b --quiet --set data.validation=other.csv");
  EXPECT_EQ(run("evaluate a").out, run("evaluate b").out);
}

TEST_F(Command, PredictionsDoNotReplaceTheirInput) {
  run("train job.toml --quiet");
  const Outcome o = run("predict run train.csv -o ./train.csv");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("write them to another file"), std::string::npos) << o.out;
  EXPECT_EQ(folder.read("train.csv"), table());
}

TEST_F(Command, NaNInTheMiddleSavesTheLastGoodWeights) {
  const Outcome o = run("train job.toml --set train.optimizer.lr=1e30 --set train.epochs=50");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("not finite; it began in step"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("the last good weights are in run"), std::string::npos) << o.out;
  const auto model = io::read_safetensors(folder / "run/model.safetensors");
  EXPECT_TRUE(std::isfinite(model.find("par")->at(0)));
}

TEST_F(Command, ALossThatIsLostInTheFirstStepLeavesAnEarlierRunAlone) {
  run("train job.toml");
  const std::string before = folder.read("run/model.safetensors");
  folder.write("train.csv", table() + "3e38,3e38,3e38,-3e38,0,cat\n");
  const Outcome o = run("train job.toml --verify --set data.batch=100 --set data.validation=0");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("step 0: the loss is not finite; it began in step 0 with op "), std::string::npos)
      << o.out;
  EXPECT_EQ(o.out.find("last good weights"), std::string::npos) << o.out;
  EXPECT_EQ(folder.read("run/model.safetensors"), before);
}

TEST_F(Command, AWrongJobLeavesAnEarlierRunAlone) {
  run("train job.toml");
  const std::string before = folder.read("run/model.safetensors");
  EXPECT_EQ(run("train job.toml --set model.forward='y = f @ f'").status, 2);
  EXPECT_EQ(run("train job.toml --set train.loss=cross_entropy").status, 2);
  EXPECT_EQ(folder.read("run/model.safetensors"), before);
}

}  // namespace
}  // namespace tightloop::cli
