// SPDX-License-Identifier: Apache-2.0
// What happens around a training that goes on: other data, other files, no room. One clear message each, and
// nothing that was there is lost.
#include "command.h"

#include <cstdlib>

namespace tightloop::cli {
namespace {

const std::string kCheckpointed =
    with(kJob, "metrics = [\"mae\"]", "checkpoint = { every_steps = 7, keep = 3 }");

struct Fault {
  const char* name;
  const char* before;     ///< a shell command after the first run
  const char* arguments;  ///< of the second
  int status;
  const char* message;
};

const Fault kFaults[] = {
    {"ValueChanged", "awk -F, -v OFS=, 'NR==5{$3=9}1' train.csv >t && mv t train.csv", "--resume", 2,
     "the data is not what the run began with: field 'f' of the training data has changed"},
    {"ColumnScaled", "awk -F, -v OFS=, 'NR>1{$1*=2}1' train.csv >t && mv t train.csv", "--resume", 2,
     "field 'x' of the training data has changed; field 'x' of the validation data has changed"},
    {"RowGone", "sed -i 7d train.csv", "--resume", 2, "belongs to a run over other data or in another order"},
    {"OtherSplit", "true", "--resume --set data.split='{ method = \"random\", seed = 5 }'", 2, "data.split"},
    {"SameContent", "cp train.csv t && mv t train.csv", "--resume --set train.epochs=6", 0,
     "going on after 30 steps"},
    {"OtherModel",
     "$TL train job.toml --out other --quiet --set model.forward='y = linear(x, 1) + linear(f, 1)'",
     "--resume other/checkpoints/step-00000030.safetensors", 2, "model.forward"},
    {"WeightsOnly", "true", "--resume run/model.safetensors", 2, "is no checkpoint of a run"},
    {"NoSuchFile", "true", "--resume run/checkpoints/step-00000031.safetensors", 2, "step-00000031"},
    {"BestIsGone", "rm run/checkpoints/best.safetensors", "--resume best", 2,
     "run/checkpoints: holds no checkpoint of the best epoch"},
    {"Flipped",
     "printf x | dd of=run/checkpoints/step-00000030.safetensors bs=1 seek=900 conv=notrunc 2>/dev/null",
     "--resume run/checkpoints/step-00000030.safetensors", 2, "step-00000030.safetensors: "},
    {"CutShort", "truncate -s -1 run/checkpoints/step-00000030.safetensors", "--resume --set train.epochs=6",
     0, "taking the one before\n"},
    {"AllCutShort", "truncate -s -1 run/checkpoints/step-*", "--resume", 2,
     "holds no checkpoint that is whole"},
    {"Empty", ": >run/checkpoints/step-00000030.safetensors", "--resume --set train.epochs=6", 0,
     "taking the one before\n"},
    {"Unfreezing", "true", "--resume --set train.unfreeze='[{ at = 2, match = \"lin.*\" }]'", 2,
     "train.unfreeze"},
    {"RateChanged", "true", "--resume --set train.epochs=6 --set train.optimizer.lr=0.01", 0,
     "changed since the checkpoint: train.optimizer"},
};

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreSaid) {
  const Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kCheckpointed);
  ASSERT_EQ(tightloop(folder, "train job.toml").status, 0);
  const std::string model = folder.read("run/model.safetensors");
  const std::string shell = "export TL=" + places::command() + "; cd " + folder.path() +
                            " && export XDG_CACHE_HOME=$PWD/cache && " + GetParam().before;
  ASSERT_EQ(std::system(shell.c_str()), 0);
  const Outcome o = tightloop(folder, std::string("train job.toml ") + GetParam().arguments);
  EXPECT_EQ(o.status, GetParam().status) << o.out;
  EXPECT_NE(o.out.find(GetParam().message), std::string::npos) << o.out;
  if (GetParam().status == 0) return;
  EXPECT_EQ(folder.read("run/model.safetensors"), model) << "an earlier run stays";
}

INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

/// Files of at most 5 KiB: all but a checkpoint fit.
TEST(NoRoom, ACheckpointThatDoesNotFitIsSaidAndTheTrainingGoesOn) {
  const Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", with(with(kCheckpointed, "lr = 0.05 }", "lr = 0.05, amsgrad = true }\nema = 0.9"),
                                "y = linear(x, 1, name=\"lin\")", "y = linear(relu(linear(x, 32)), 1)"));
  ASSERT_EQ(tightloop(folder, "train job.toml").status, 0);
  const Folder full;
  full.write("train.csv", table());
  full.write("job.toml", folder.read("job.toml"));
  const std::string limited = "version >/dev/null; export XDG_CACHE_HOME=$PWD/cache; ulimit -f 10; " +
                              places::command() + " train job.toml";
  const Outcome p = tightloop(full, "--" + limited);
  EXPECT_EQ(p.status, 0) << p.out;
  EXPECT_NE(p.out.find("no checkpoint: "), std::string::npos) << p.out;
  EXPECT_NE(p.out.find("the training goes on"), std::string::npos) << p.out;
  EXPECT_EQ(full.read("run/model.safetensors"), folder.read("run/model.safetensors"));
}

TEST(NoRoom, CheckpointsThatCannotBeAFolderAreSaid) {
  const Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kCheckpointed);
  folder.write("run/checkpoints", "");
  const Outcome o = tightloop(folder, "train job.toml");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("run/checkpoints: cannot be made"), std::string::npos) << o.out;
  EXPECT_TRUE(folder.has("run/model.safetensors"));
}

}  // namespace
}  // namespace tightloop::cli
