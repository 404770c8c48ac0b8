// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/nn/layers/layer.h>
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/forward/functions.h>
#include <tightloop/train/job.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <fstream>
#include <iterator>

namespace tightloop::train {
namespace {

const std::string kGood = R"(seed = 1
[data]
train = "train.csv"
inputs = { x = "x*", f = ["f", "g"] }
target = { y = "y" }
validation = 0.1
normalize = { x = "standard" }
batch = 128
[model]
parameters = { par = [1], scale = { shape = [2, 3], init = 0.5 } }
forward = """
y = linear(x, 1, bias=false, name="lin") + par * f
"""
[train]
epochs = 300
loss = { name = "huber", delta = 0.5 }
optimizer = { name = "adam", lr = 5e-4 }
metrics = ["mae"]
group = [{ match = "*.bias", weight_decay = 0 }, { match = ["par", "lin.*"], lr = 1e-3 }]
[output]
directory = "run"
)";

std::string message(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_job(text, "job.toml", overrides);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string replaced(std::string from, std::string to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Job, ReadsEveryKind) {
  const Job job = parse_job(kGood, "job.toml");
  EXPECT_EQ(job.seed, 1);
  ASSERT_EQ(job.data.inputs.size(), 2u);
  EXPECT_EQ(job.data.inputs[0].name, "x");  // in the order written
  EXPECT_EQ(job.data.inputs[1].from, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(job.data.validation.fraction, 0.1);
  EXPECT_EQ(job.model.parameters[1].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(job.train.loss.name, "huber");
  EXPECT_EQ(*job.train.loss.options.find("delta")->as<double>(), 0.5);
  EXPECT_EQ(job.train.optimizer.name, "adam");
  EXPECT_EQ(job.model.forward.line, 12);
}

TEST(Job, ResolvedJobReadsBackAsItself) {
  const std::string resolved = to_toml(parse_job(kGood, "job.toml"));
  EXPECT_EQ(to_toml(parse_job(resolved, "job.toml")), resolved);
  const std::vector<std::string_view> only_when_given{"model.weights", "data.images", "data.eval_transforms"};
  for (const Key& key : job_keys()) {
    const std::string name = std::string(key.path.substr(key.path.rfind('.') + 1)) + " = ";
    const bool left_out = ("\n" + resolved).find("\n" + name) == std::string::npos;
    const bool may =
        std::find(only_when_given.begin(), only_when_given.end(), key.path) != only_when_given.end();
    EXPECT_EQ(left_out, may) << key.path;
  }
}

TEST(Job, ReadsGroups) {
  const Job job = parse_job(kGood, "job.toml");
  ASSERT_EQ(job.train.groups.size(), 2u);
  EXPECT_EQ(job.train.groups[0].match, std::vector<std::string>{"*.bias"});
  EXPECT_EQ(job.train.groups[0].weight_decay, 0);
  EXPECT_FALSE(job.train.groups[0].lr);
  EXPECT_EQ(job.train.groups[1].match.size(), 2u);
  EXPECT_EQ(job.train.groups[1].lr, 1e-3);
  const std::string sections = replaced("group = [{ match = \"*.bias\", weight_decay = 0 }, ", "") +
                               "[[train.group]]\nmatch = \"*\"\nlr = 1\n";
  EXPECT_NE(message(sections).find("job.toml:"), std::string::npos) << "one way at a time";
  const std::string moved =
      replaced(
          "group = [{ match = \"*.bias\", weight_decay = 0 }, { match = [\"par\", \"lin.*\"], lr = 1e-3 }]\n",
          "") +
      "[[train.group]]\nmatch = \"*.bias\"\nweight_decay = 0\n[[train.group]]\nmatch = \"par\"\nlr = 1\n";
  EXPECT_EQ(parse_job(moved, "job.toml").train.groups.size(), 2u);
}

TEST(Job, RefusesGroupsThatSayNothing) {
  const std::string whole = "{ match = \"*.bias\", weight_decay = 0 }";
  EXPECT_NE(message(replaced(whole, "{ match = \"*.bias\", lrr = 1 }"))
                .find("use match, lr and weight_decay (did you mean 'lr'?)"),
            std::string::npos);
  EXPECT_NE(
      message(replaced(whole, "{ match = \"*.bias\" }")).find("changes nothing: give it lr or weight_decay"),
      std::string::npos);
  EXPECT_NE(message(replaced(whole, "{ lr = 1 }")).find("has no match"), std::string::npos);
  EXPECT_NE(message(replaced(whole, "{ match = \"*\", lr = -1 }")).find("must be a number of at least 0"),
            std::string::npos);
  EXPECT_NE(message(replaced(whole, "3")).find("must be a table: write [[train.group]]"), std::string::npos);
}

TEST(Job, ForwardTextWithQuotesAndControlCharactersRoundTrips) {
  Job job = parse_job(kGood, "job.toml");
  job.model.forward.text = "y = f(\"a\\b\")\r\n\t# é\n";
  EXPECT_EQ(parse_job(to_toml(job), "again").model.forward.text, job.model.forward.text);
}

TEST(Job, OverridesAreTomlOrBareWords) {
  const Job job = parse_job(kGood, "job.toml",
                            {"train.epochs=3", "train.loss=mse", "train.optimizer.lr=0.1",
                             "data.shuffle=false", "data.normalize.f=minmax", "output.directory=/tmp/a=b"});
  EXPECT_EQ(job.train.epochs, 3);
  EXPECT_EQ(job.train.loss.name, "mse");
  EXPECT_EQ(*job.train.optimizer.options.find("lr")->as<double>(), 0.1);
  EXPECT_FALSE(job.data.shuffle);
  EXPECT_EQ(job.data.normalize.size(), 2u);
  EXPECT_EQ(job.output.directory, "/tmp/a=b");
  EXPECT_EQ(parse_job(replaced("{ name = \"adam\", lr = 5e-4 }", "\"sgd\""), "j", {"train.optimizer.lr=1"})
                .train.optimizer.name,
            "sgd");
}

TEST(Job, RefusesWithPlaceReasonAndRemedy) {
  EXPECT_EQ(message(replaced("batch =", "bacth =")),
            "job.toml:8:9: unknown key data.bacth (did you mean 'batch'?)");
  EXPECT_EQ(message(replaced("[train]", "[trian]")),
            "job.toml:14:1: unknown key trian (did you mean 'train'?)");
  EXPECT_EQ(message(replaced("epochs = 300", "batch = 300")),
            "job.toml:15:9: unknown key train.batch (did you mean data.batch?)");
  EXPECT_EQ(message(replaced("batch = 128", "batch = \"many\"")),
            "job.toml:8:9: data.batch must be a whole number of at least 1, not the string 'many'");
  EXPECT_EQ(message(replaced("batch = 128", "batch = 0")),
            "job.toml:8:9: data.batch must be a whole number of at least 1, not the whole number 0");
  EXPECT_EQ(message(replaced("validation = 0.1", "validation = 1.5")),
            "job.toml:6:14: data.validation must be a fraction from 0 to below 1, a file, or a table of "
            "files, not the "
            "number 1.5");
  EXPECT_EQ(message(replaced("\"standard\"", "\"standart\"")),
            "job.toml:7:19: data.normalize.x must be 'none', 'standard' or 'minmax', not the string "
            "'standart' (did "
            "you mean 'standard'?)");
  EXPECT_EQ(message(replaced("seed = 1", "seed = ")).substr(0, 11), "job.toml:1:");
  EXPECT_EQ(message(replaced("par = [1]", "par = [0]")).substr(0, 65),
            "job.toml:10:23: model.parameters.par must be a whole number of at");
  EXPECT_EQ(message(replaced("target = { y = \"y\" }", "")),
            "job.toml: data.target is missing (what the model shall predict: name = column, list or pattern, "
            "or file)");
  EXPECT_EQ(message(replaced("directory = \"run\"", "directory = \"\"")),
            "job.toml:21:13: output.directory must be a string that is not empty, not the string ''");
  EXPECT_EQ(message(replaced("[\"mae\"]", "[\"mae\", \"mae\"]")),
            "job.toml:18:19: train.metrics names mae twice");
  EXPECT_NE(message(replaced("init = 0.5", "init = nan")).find("init must be a finite number"),
            std::string::npos);
  EXPECT_EQ(message("data = 3"), "job.toml:1:8: data must be a table, not the whole number 3");
  EXPECT_EQ(message(kGood, {"train.epoch=3"}),
            "--set train.epoch=3: unknown key train.epoch (did you mean 'epochs'?)");
  EXPECT_EQ(message(kGood, {"train.epochs=x"}),
            "--set train.epochs=x: train.epochs must be a whole number of at least 1, not the string 'x'");
  EXPECT_EQ(message(kGood, {"epochs"}), "--set epochs: write --set key=value, such as --set train.epochs=3");
}

/// Everything that a job may name stands in docs/job.md, between backquotes.
TEST(Job, EveryKeyAndNameIsDocumented) {
  std::ifstream in(TIGHTLOOP_SOURCE_DIR "/docs/job.md");
  const std::string docs{std::istreambuf_iterator<char>(in), {}};
  const auto check = [&](std::string_view name) {
    EXPECT_NE(docs.find("`" + std::string(name) + "`"), std::string::npos)
        << name << " is not in docs/job.md";
  };
  const auto check_options = [&](std::string_view owner, const std::vector<OptionSpec>& options) {
    check(owner);
    for (const auto& o : options)
      EXPECT_NE(docs.find("`" + std::string(o.name)), std::string::npos)
          << owner << " " << o.name << " is not in docs/job.md";
  };
  for (const Key& key : job_keys()) check(key.path);
  for (const auto& f : forward::all_functions()) check(f.signature);
  for (const auto* d : nn::all_losses()) check_options(d->name, d->options);
  for (const auto* d : nn::all_layers()) check_options(d->name, d->options);
  for (const auto* d : nn::all_models()) check_options(d->name, d->options);
  for (const auto* d : nn::all_metrics()) check_options(d->name, d->options);
  for (const auto* d : optim::all_optimizers()) check_options(d->name, d->options);
}

}  // namespace
}  // namespace tightloop::train
