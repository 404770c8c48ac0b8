// SPDX-License-Identifier: Apache-2.0
// Command lines and jobs that must fail: the exit status, and words of the one message. Nothing may be left
// behind.
#include "command.h"

#include <algorithm>

namespace tightloop::cli {
namespace {

struct Case {
  const char* name;
  const char* arguments;
  const char* message;
};

const Case kCases[] = {
    // the command line
    {"NoSubcommand", "", "A subcommand is required"},
    {"UnknownSubcommand", "trian job.toml", "unknown subcommand 'trian' (did you mean 'train'?)"},
    {"UnknownOption", "train job.toml --epochs 3", "--epochs"},
    {"NoJob", "train", "job is required"},
    {"MissingJob", "train none.toml", "none.toml: cannot read the job file"},
    {"JobIsAFolder", "train .", ".: cannot read the job file"},
    {"SetWithoutValue", "train job.toml --set train.epochs", "write --set key=value"},
    {"SetUnknownKey", "train job.toml --set train.epoch=3",
     "unknown key train.epoch (did you mean 'epochs'?)"},
    {"SetWrongType", "train job.toml --set train.epochs=many", "train.epochs must be a whole number"},
    {"ThreadsNoNumber", "train job.toml --threads two", "train.threads must be a whole number"},
    {"EmptyOut", "train job.toml --out ''", "--out: must name a folder"},
    {"BenchForNoTime", "bench job.toml --seconds nan", "--seconds: must be a number from 0.05 to 600"},
    {"OutputFull", "check job.toml 2>said >/dev/full; s=$?; cat said; (exit $s)",
     "the standard output could not be written"},
    {"InspectNoFile", "inspect none.csv", "cannot read 'none.csv': No such file"},
    {"InspectNoFormat", "inspect train.csv --format cvs", "--format"},
    {"InspectSeparators", "inspect train.csv --separator ab", "--separator: 'ab' is not one character"},
    {"NegativeSeed", "train job.toml --seed=-1", "seed must be a whole number of at least 0"},
    // the job
    {"UnknownLoss", "train job.toml --set train.loss=msee", "did you mean 'mse'?"},
    {"UnknownOptimizer", "train job.toml --set train.optimizer.name=adan", "did you mean 'adam'?"},
    {"UnknownRule", "train job.toml --set train.optimizer.rl=1",
     "job.toml:16:13: train.optimizer: optimizer adam: unknown option 'rl'"},
    {"NegativeRate", "train job.toml --set train.optimizer.lr=-1", "learning rate"},
    {"GroupOfNothing", "train job.toml --set train.group='[{match=\"lin.wieght\",lr=1}]'",
     "no parameter matches 'lin.wieght' (did you mean 'lin.weight'?)"},
    {"GroupKey", "train job.toml --set train.group='[{match=\"*\",decay=1}]'",
     "use match, lr and weight_decay"},
    {"GroupsOfLbfgs", "train job.toml --set train.optimizer=lbfgs --set train.group='[{match=\"*\",lr=1}]'",
     "takes no groups"},
    {"TwoAverages", "train job.toml --set train.ema=0.9 --set train.swa=0.01", "take one of them"},
    {"AveragesTooLate", "train job.toml --set train.swa='{lr=0.01,start=9}'",
     "train.swa: swa: starts in epoch 9"},
    {"NoSuchMonitor", "train job.toml --set train.monitor='[\"gradient_nrm\"]'",
     "did you mean 'gradient_norm'?"},
    {"GuardAction", "train job.toml --set train.nan_guard.action=halt", "'rollback' or 'stop'"},
    {"ThawOfNothing", "train job.toml --set train.unfreeze='[{at=2,match=\"lim.*\"}]'",
     "train.unfreeze: optimizer: no parameter matches 'lim.*' (did you mean 'lin.*'?)"},
    {"ThawOfAll", "check job.toml --set train.unfreeze='[{at=2,match=\"*\"}]'",
     "train.unfreeze: leaves nothing to train in the first epoch"},
    {"ThawTooLate", "check job.toml --set train.unfreeze='[{at=99,match=\"lin.*\"}]'",
     "train.unfreeze: joins in epoch 99, but the run has"},
    {"TimeOfTrue", "check job.toml --set train.max_time=true",
     "train.max_time must be seconds, \"1h30m\" or \"01:30:00\", not true"},
    {"NoWindow", "check job.toml --set train.nan_guard='{spike=2.0,window=0}'",
     "train.nan_guard: nan_guard: window must be at least 1 step, not 0"},
    {"NegativeSpike", "check job.toml --set train.nan_guard.spike=-1.0",
     "train.nan_guard: nan_guard: spike must be"},
    {"LoggerWithoutName", "check job.toml --set train.loggers='[{name=\"\"}]'",
     "name must be a name, not the string ''"},
    {"UnknownKeyOfTrain", "check job.toml --set train.zzzzzz=1", "nan_guard, monitor"},
    {"ThawWithoutEpoch", "train job.toml --set train.unfreeze='[{match=\"lin.*\"}]'", "write at = 3"},
    {"CycleOfNothing",
     "train job.toml --set train.optimizer=rmsprop --set "
     "train.schedule='{name=\"one_cycle\",cycle_momentum=true}'",
     "has none that moves"},
    {"UnknownMetric", "train job.toml --set train.metrics=acuracy", "did you mean 'accuracy'?"},
    {"UnknownFunction", "train bad_function.toml",
     "bad_function.toml:11:5: unknown function 'linaer' (did you mean 'linear'?)\n  y = linaer(x, 1"},
    {"ShapeMismatch", "train job.toml --set model.forward='y = linear(x, 2)'", "mse"},
    {"NothingToTrain", "train job.toml --set model.forward='y = x[:, :1]'", "nothing to train"},
    {"NoRowAxis", "train job.toml --set model.forward='y = sum(linear(x, 1))'", "must have one entry a row"},
    {"BadInitialiser",
     "train job.toml --set model.parameters.par.init=one --set model.parameters.par.shape=[1]",
     "did you mean 'ones'?"},
    {"MissingWeights", "train job.toml --set model.weights=no.safetensors", "no.safetensors"},
    {"BrokenWeights", "train job.toml --set model.weights=train.csv", "train.csv"},
    {"ResumeOfNothing", "train job.toml --resume", "run/checkpoints: holds no checkpoint to go on from"},
    {"ResumeBeforeTheJob", "train job.toml --resume other.toml", "write the job first"},
    {"ResumeOfWhat", "train job.toml --resume some.safetensors", "some.safetensors"},
    {"FreezeOfNothing", "train job.toml --set train.freeze=lin.wieght",
     "train.freeze: optimizer: no parameter matches 'lin.wieght' (did you mean 'lin.weight'?)"},
    {"EverythingFrozen", "train job.toml --set train.freeze='*'", "nothing to train"},
    {"ScheduleOfLbfgs", "train job.toml --set train.optimizer=lbfgs --set train.schedule=cosine",
     "lbfgs: takes no schedule"},
    {"UnknownMonitor", "train job.toml --set train.early_stopping.monitor=mea",
     "early_stopping: there is no metric 'mea' to watch; there are train_loss, validation_loss, mae"},
    // check says it before
    {"CheckUnknownMonitor", "check job.toml --set train.early_stopping.monitor=mea",
     "early_stopping: there is no metric 'mea' to watch; there are train_loss, validation_loss, mae"},
    {"CheckMonitorOfThePlateau",
     "check job.toml --set train.schedule='{name=\"reduce_on_plateau\",monitor=\"mea\"}'",
     "there is no metric 'mea' to watch"},
    {"CheckScheduleOfLbfgs", "check job.toml --set train.optimizer=lbfgs --set train.schedule=cosine",
     "lbfgs: takes no schedule"},
    {"CheckSamplerOfLbfgs",
     "check job.toml --set train.optimizer=lbfgs --set data.sampler='{name=\"weighted\",column=\"label\"}'",
     "it takes no sampler that draws rows"},
    // the data
    {"MissingData", "train job.toml --set data.train=none.csv", "none.csv"},
    {"UnknownColumn", "train job.toml --set data.inputs.f=g", "'g'"},
    {"TextColumn", "train job.toml --set data.target.y=kind", "kind"},
    {"HeaderOnly", "train job.toml --set data.train=header.csv", "header.csv"},
    {"EmptyFile", "train job.toml --set data.train=empty.csv", "empty.csv"},
    {"NotANumber", "train job.toml --set data.train=hole.csv", "hole.csv"},
    {"FractionOfNothing", "train job.toml --set data.validation=0.001", "60"},
    {"DropLast", "train job.toml --set data.batch=1024 --set data.drop_last=true",
     "45 training rows, fewer than a batch of 1024"},
    {"LabelsTooLarge", "train labels.toml --set train.metrics=accuracy", "must be 0..1 (2 classes)"},
    {"IdsTooLarge",
     "train job.toml --set model.forward='y = linear(embedding(cast(f[:, 0] + 3, \"i64\"), 4, 2), 1)'",
     "embedding: id 4 in row"},
    {"FractionalClasses", "train labels.toml --set data.target.c=y", "y"},
    {"KeyOfOtherData", "train job.toml --set data.on_error=skip",
     "job.toml: data.on_error is for streams, but the training data are a table; leave it out"},
    {"NormalizeUnknownInput", "train job.toml --set data.normalize.z=standard",
     "data.normalize.z names no input"},
    // the output
    {"OutIsAFile", "train job.toml --out train.csv", "train.csv: is a file"},
    {"OutIsForeign", "train job.toml --out foreign", "foreign: holds files, but no run of tightloop"},
    {"OutIsReadOnly", "train job.toml --out /proc/run", "/proc/run"},
    {"OutBelowAFile", "train job.toml --out train.csv/run", "train.csv/run"},
    // other commands
    {"EvaluateNoRun", "evaluate none", "none: is no run directory"},
    {"EvaluateForeign", "evaluate foreign", "foreign: is no run directory"},
    {"PredictBadSuffix", "predict none train.csv -o out.txt", "written as .csv or .npy"},
    // runs for development, and several runs
    {"LimitOfNothing", "train job.toml --set train.limit_batches=0",
     "train.limit_batches must be a number of batches from 1 on, or a share"},
    {"LimitTooSmall", "train job.toml --set train.limit_batches=0.01",
     "--set train.limit_batches=0.01: train.limit_batches: 0.01 of 6 batches is less than one batch"},
    {"LimitOverAll", "train job.toml --set train.limit_validation_batches=1.5",
     "train.limit_validation_batches"},
    {"OverfitAndLimit", "train job.toml --set train.overfit_batches=1 --set train.limit_batches=2",
     "leave limit_batches and limit_validation_batches out"},
    {"NegativeSanity", "train job.toml --set train.sanity_check=-1",
     "train.sanity_check must be a whole number"},
    {"NoRepeats", "train job.toml --set train.repeats=0",
     "train.repeats must be a whole number of at least 1"},
    {"RepeatsOfABadJob", "train job.toml --set train.repeats=3 --set model.forward='y = linear(x, 2)'",
     "mse"},
    {"RepeatsFromBest", "train job.toml --set train.repeats=3 --resume best", "write --resume alone"},
    {"RepeatsIntoForeign", "train job.toml --set train.repeats=3 --out foreign", "foreign: holds notes.txt"},
    {"RepeatsIntoAFile", "train job.toml --set train.repeats=3 --out train.csv", "train.csv: is a file"},
    {"FoldIndex", "train job.toml --set data.validation=0 --set data.fold='{ k = 3, index = 3 }'",
     "of 3 folds there are 0 to 2"},
    {"FoldsOfFewRows", "train job.toml --set data.validation=0 --set data.fold='{ k = 100 }'", "60"},
    {"FindRateDown", "find-rate job.toml --low 1 --high 0.1", "the rates must rise"},
    {"FindRateOfLbfgs", "find-rate job.toml --set train.optimizer=lbfgs", "there is no rate to find"},
    {"FindRateSuffix", "find-rate job.toml -o rates.png", "written as .csv or .svg"},
    {"FindRateWord", "find-rate job.toml --steps many", "--steps"},
    {"MemoryAlone", "check job.toml --memory 1GB", "write both"},
    {"MemoryUnit", "check job.toml --largest-batch --memory 2XB", "--memory"},
    {"MemoryForNothing", "check job.toml --largest-batch --memory 100",
     "not even a batch of one row fits into 100 B"},
    {"ReplayNoRun", "replay none --step 1", "none: is no run directory"},
    {"ReplayForeign", "replay foreign --step 1", "foreign: is no run directory"},
    {"ReplayNoStep", "replay none", "--step is required"},
};

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, WithStatus2AndOneMessage) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("header.csv", "x0,x1,f,y\n");
  folder.write("empty.csv", "");
  folder.write("hole.csv", "x0,x1,f,y\n1,2,3,4\n1,NA,3,4\n");
  folder.write("foreign/notes.txt", "mine");
  folder.write("job.toml", kJob);
  folder.write("bad_function.toml", with(kJob, "linear", "linaer"));
  folder.write("labels.toml",
               with(with(with(kJob, "{ y = \"y\" }", "{ c = \"label\" }"), "linear(x, 1,", "linear(x, 2,"),
                    "\"mse\"", "\"cross_entropy\""));
  const Outcome o = tightloop(folder, GetParam().arguments);
  EXPECT_EQ(o.status, 2) << o.out;
  EXPECT_NE(o.out.find(GetParam().message), std::string::npos) << o.out;
  EXPECT_EQ(o.out.substr(0, 11), "tightloop: ") << o.out;
  EXPECT_LE(std::count(o.out.begin(), o.out.end(), '\n'), 4) << o.out;
  EXPECT_FALSE(folder.has("run")) << "a run directory was left behind";
  EXPECT_EQ(folder.read("foreign/notes.txt"), "mine");
}

INSTANTIATE_TEST_SUITE_P(Cases, Refused, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tightloop::cli
