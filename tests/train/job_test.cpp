// SPDX-License-Identifier: Apache-2.0
#include <tests/support/places.h>
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/transform.h>
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
#include <set>

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
schedule = [{ name = "linear", steps = 3 }, { name = "product", of = ["cosine", { name = "step", step_size = 2 }] }]
clip = { norm = 1.0, value = 0.5, noise = 0.1, centralize = true }
accumulate = 4
freeze = ["par", "lin.*"]
ema = { decay = 0.99, evaluate = false }
nan_guard = true
early_stopping = { monitor = "mae", patience = 2 }
stop_at = 0.01
max_time = "1h30m"
checkpoint = { every_steps = 10, keep = 2 }
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
  std::string text(kGood);
  const std::string data = "[data]\n";
  text.insert(text.find(data) + data.size(),
              "format = \"csv\"\nseparator = \";\"\nheader = true\nvocabulary = \"v.txt\"\n"
              "columns = { c = \"category\", \"a b*\" = { missing = \"mean\" }, d = { missing = 2, type = "
              "\"number\" }, "
              "e = { encode = \"index\", missing = \"category\", values = [\"x\", \"\\\"y\"] } }\n");
  const std::string resolved = to_toml(parse_job(text, "job.toml"));
  EXPECT_EQ(to_toml(parse_job(resolved, "job.toml")), resolved);
  const std::set<std::string_view> without_default{
      "model.weights",      "data.images",          "data.split",          "data.fold",
      "data.window",        "data.eval_transforms", "train.limit_batches", "train.limit_validation_batches",
      "train.sanity_check", "train.unfreeze",       "train.swa",           "train.monitor",
      "train.recompute",    "train.profile"};
  for (const Key& key : job_keys()) {
    const std::string name = "\n" + std::string(key.path.substr(key.path.rfind('.') + 1)) + " = ";
    EXPECT_EQ(("\n" + resolved).find(name) == std::string::npos, without_default.contains(key.path))
        << key.path;
  }
}

TEST(Job, LossScaleIsAWordANumberOrATable) {
  using Kind = optim::LossScale::Kind;
  const auto with = [](const std::string& value) {
    return parse_job(kGood, "job.toml", {"train.loss_scale=" + value});
  };
  EXPECT_EQ(parse_job(kGood, "job.toml").train.loss_scale.kind, Kind::automatic);
  EXPECT_EQ(with("\"none\"").train.loss_scale.kind, Kind::none);
  EXPECT_EQ(with("\"dynamic\"").train.loss_scale.init, 65536);
  EXPECT_EQ(with("1024").train.loss_scale.kind, Kind::fixed);
  EXPECT_EQ(with("1024").train.loss_scale.init, 1024);
  const Job job =
      with("{ initial_scale_power = 12, loss_scale_window = 500, hysteresis = 2, min_loss_scale = 4 }");
  EXPECT_EQ(job.train.loss_scale.kind, Kind::dynamic);
  EXPECT_EQ(job.train.loss_scale.init, 4096);
  EXPECT_EQ(job.train.loss_scale.growth_interval, 500);
  EXPECT_EQ(job.train.loss_scale.hysteresis, 2);
  EXPECT_EQ(job.train.loss_scale.minimum, 4);
  EXPECT_EQ(with("{ init_scale = 8, growth_factor = 4, backoff_factor = 0.25 }").train.loss_scale.growth, 4);
  for (const char* value :
       {"\"auto\"", "\"none\"", "\"dynamic\"", "1024", "{ init_scale = 8, hysteresis = 3 }"}) {
    const std::string resolved = to_toml(with(value));
    EXPECT_EQ(to_toml(parse_job(resolved, "job.toml")), resolved) << value;
  }
  const auto said = [](const std::string& value) { return message(kGood, {"train.loss_scale=" + value}); };
  EXPECT_NE(said("0").find("a number above 0"), std::string::npos) << said("0");
  EXPECT_NE(said("true").find("\"auto\", \"dynamic\", \"none\", a number or a table"), std::string::npos);
  EXPECT_NE(said("\"dynamik\"").find("did you mean 'dynamic'?"), std::string::npos);
  EXPECT_NE(said("{ init = 4 }").find("is no key of train.loss_scale"), std::string::npos);
  EXPECT_NE(said("{ init_scale = 4, initial_scale_power = 2 }").find("two names of one thing"),
            std::string::npos);
  EXPECT_NE(said("{ initial_scale_power = 128 }").find("at most 127"), std::string::npos);
  EXPECT_NE(said("{ init_scale = 4, min_loss_scale = 8 }").find("is above the first scale 4"),
            std::string::npos);
  EXPECT_NE(said("{ backoff_factor = 1.5 }").find("train.loss_scale: loss_scale: backoff_factor"),
            std::string::npos)
      << said("{ backoff_factor = 1.5 }");
}

TEST(Job, WeightsAreAFileOrATableAroundOne) {
  const std::string plain = "model.weights=\"w.safetensors\"";
  EXPECT_EQ(parse_job(kGood, "job.toml", {plain}).model.weights, "w.safetensors");
  const Job job =
      parse_job(kGood, "job.toml",
                {"model.weights={ file = \"w\", strip = \"a.\", add = \"b.\", map = [[\"^x\", \"y\"]], "
                 "strict = false }"});
  EXPECT_EQ(job.model.weight_map.map[0].second, "y");
  EXPECT_FALSE(job.model.weight_map.strict);
  const std::string resolved = to_toml(job);
  EXPECT_EQ(to_toml(parse_job(resolved, "job.toml")), resolved);
}

TEST(Job, RefusesTrainingKeysThatCannotBe) {
  const std::pair<const char*, const char*> cases[] = {
      {"train.schedule=cosin", "train.schedule: unknown schedule 'cosin' (did you mean 'cosine'?)"},
      {"train.schedule=[\"cosine\", \"step\"]", "needs its length, as another schedule follows"},
      {"train.schedule=[]", "a sequence needs at least one part"},
      {"train.schedule={ name = \"product\" }", "needs a list"},
      {"train.schedule={ name = \"product\", of = [\"cosine\"], gamma = 1 }", "is no key of a product"},
      {"train.schedule={ name = \"cosine\", every = \"steps\" }", "must be 'step' or 'epoch'"},
      {"train.schedule=[{ name = \"cosine\", every = \"step\", steps = 2 }, { name = \"cosine\", every = "
       "\"epoch\" }]",
       "differs from the other parts"},
      {"train.schedule={ name = \"step\" }", "step_size"},
      {"train.schedule=3", "the name of a schedule"},
      {"train.schedule=2020-01-01", "the name of a schedule"},
      {"train.stop_at=nan", "must be a number, not nan"},
      {"train.clip={ nrom = 1 }", "did you mean 'norm'?"},
      {"train.clip=-1", "must be a number of at least 0"},
      {"train.ema=1.5", "train.ema: ema: decay must be between 0 and 1, not 1.5"},
      {"train.early_stopping={ patients = 3 }", "did you mean 'patience'?"},
      {"train.early_stopping={ mode = \"lowest\" }", "mode must be 'min' or 'max', not 'lowest'"},
      {"train.max_time=soon", "max_time: 'soon' is no time"},
      {"train.max_time=-1", "'-1' is no time"},
      {"train.checkpoint={ keep = -1 }", "keep must be 0 or greater"},
      {"train.stop_at={ monitor = \"train_loss\" }", "value"},
      {"train.nan_guard={ factor = 2.0 }", "factor must be above 0 and at most 1"},
      {"model.weights={ strip = \"a\" }", "has no file"},
      {"model.weights={ file = \"a\", map = [[\"b\"]] }", "must be a pair"},
  };
  for (const auto& [change, words] : cases)
    EXPECT_NE(message(kGood, {change}).find(words), std::string::npos) << change << "\n"
                                                                       << message(kGood, {change});
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
            "job.toml:31:13: output.directory must be a string that is not empty, not the string ''");
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
  std::ifstream in(places::source_dir() + "/docs/job.md");
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
  for (const auto* d : data::all_transforms()) check_options(d->name, d->options);
}

}  // namespace
}  // namespace tightloop::train
