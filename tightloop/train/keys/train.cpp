// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/job_callbacks.h>
#include <tightloop/train/job_schedule.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>
#include <tightloop/train/loggers/job_loggers.h>
#include <tightloop/train/memory_budget.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::keys {
namespace {

ParameterGroup group(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table: write [[train.group]]");
  ParameterGroup out{{}, {}, {}, place(v)};
  for (const auto& [key, value] : *table) {
    if (key == "match")
      out.match = texts(value, "a pattern such as \"*.bias\", or a list of patterns");
    else if (key == "lr")
      out.lr = not_negative(value);
    else if (key == "weight_decay")
      out.weight_decay = not_negative(value);
    else
      fail(value, "is no key of a group; use match, lr and weight_decay" +
                      suggestion(key, {"match", "lr", "weight_decay"}));
  }
  if (out.match.empty()) fail(v, "has no match: write match = \"*.bias\"");
  if (!out.lr && !out.weight_decay) fail(v, "changes nothing: give it lr or weight_decay");
  return out;
}

std::vector<ParameterGroup> groups(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) wrong(v, "a list of tables: write [[train.group]]");
  std::vector<ParameterGroup> out;
  for (const Value& e : *list) out.push_back(group(e));
  return out;
}

Value groups_value(const Job& j) {
  Value::List out;
  for (const ParameterGroup& g : j.train.groups) {
    Value::Table table{{"match", texts_value(g.match)}};
    if (g.lr) table.emplace_back("lr", *g.lr);
    if (g.weight_decay) table.emplace_back("weight_decay", *g.weight_decay);
    out.emplace_back(std::move(table));
  }
  return out.empty() ? Value{} : Value{out};
}

optim::GradientRules gradients(const Value& v) {
  optim::GradientRules out;
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) {
    out.clip_norm = not_negative(v);
    return out;
  }
  for (const auto& [key, value] : *table) {
    if (key == "norm")
      out.clip_norm = not_negative(value);
    else if (key == "value")
      out.clip_value = not_negative(value);
    else if (key == "noise")
      out.noise = not_negative(value);
    else if (key == "centralize")
      out.centralize = flag(value);
    else
      fail(value, "is no key of train.clip" + suggestion(key, {"norm", "value", "noise", "centralize"}));
  }
  return out;
}

Value gradients_value(const Job& j) {
  const optim::GradientRules& g = j.train.gradients;
  Value::Table table;
  if (g.clip_norm > 0) table.emplace_back("norm", g.clip_norm);
  if (g.clip_value > 0) table.emplace_back("value", g.clip_value);
  if (g.noise > 0) table.emplace_back("noise", g.noise);
  if (g.centralize) table.emplace_back("centralize", true);
  return table.empty() ? Value{} : Value{table};
}

Thaw thaw(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table: write { at = 3, match = \"layer4.*\" }");
  Thaw out{0, {}, place(v)};
  for (const auto& [key, value] : *table) {
    if (key == "match")
      out.match = texts(value, "a pattern such as \"layer4.*\", or a list of patterns");
    else if (key == "at")
      out.at = whole(value, 1);
    else
      fail(value, "is no key of train.unfreeze; use at and match" + suggestion(key, {"at", "match"}));
  }
  if (out.match.empty()) fail(v, "has no match: write match = \"layer4.*\"");
  if (out.at == 0) fail(v, "does not say in which epoch: write at = 3");
  return out;
}

std::vector<Thaw> thaws(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) wrong(v, "a list of tables: write [{ at = 3, match = \"layer4.*\" }]");
  std::vector<Thaw> out;
  for (const Value& e : *list) out.push_back(thaw(e));
  return out;
}

Value thaws_value(const Job& j) {
  Value::List out;
  for (const Thaw& t : j.train.unfreeze)
    out.emplace_back(Value::Table{{"at", t.at}, {"match", texts_value(t.match)}});
  return out.empty() ? Value{} : Value{out};
}

std::string memory_text(const Value& v) {
  if (const auto* bytes = v.as<std::int64_t>()) {
    if (*bytes < 1) wrong(v, "bytes, a size such as \"2GB\", or a share such as \"50%\"");
    return std::to_string(*bytes);
  }
  const std::string out = text(v, "bytes, a size such as \"2GB\", or a share such as \"50%\"");
  memory_bytes(out, place(v));
  return out;
}

void read_recompute(const Value& v, Job& j) {
  static const std::vector<std::string> words{"none", "auto", "cheap", "blocks"};
  j.train.recompute_layers.clear();
  if (v.as<Value::List>() == nullptr) {
    j.train.recompute = one_of(v, words);
    return;
  }
  j.train.recompute = "layers";
  j.train.recompute_layers = texts(v, "a list of layers such as [\"gpt0.?\"]");
}

Value recompute_value(const Job& j) {
  if (j.train.recompute.empty()) return {};
  const auto& layers = j.train.recompute_layers;
  if (j.train.recompute != "layers") return Value{j.train.recompute};
  return Value::List(layers.begin(), layers.end());
}

/// A callback's name as a template argument, so that each has a key of its own.
template <std::size_t n>
struct Name {
  // NOLINTNEXTLINE(google-explicit-constructor): written as a text.
  constexpr Name(const char (&text)[n]) { std::copy_n(text, n, data); }
  constexpr std::string_view text() const { return {data + 6, n - 7}; }  // without "train."
  char data[n] = {};
};

template <Name path>
Key callback_key(std::string_view meaning) {
  return {{path.data},
          meaning,
          false,
          [](const Value& v, Job& j) {
            job_callback(path.text(), v);
            std::erase_if(j.train.callbacks, [](const auto& c) { return c.first == path.text(); });
            j.train.callbacks.emplace_back(path.text(), v);
          },
          [](const Job& j) {
            for (const auto& [name, value] : j.train.callbacks)
              if (name == path.text()) return value;
            return Value{};
          }};
}

/// "bf16", or { type, level, force }.
Precision precision(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr)
    return precision_named(one_of(v, {"f32", "f64", "bf16", "f16", "O0", "O1", "O2", "O3"}));
  Precision out;
  for (const auto& [key, value] : *table) {
    if (key == "type")
      out.type = precision_named(one_of(value, {"f32", "f64", "bf16", "f16"})).type;
    else if (key == "level")
      out.level = precision_named(one_of(value, {"O0", "O1", "O2", "O3"})).level;
    else if (key == "force")
      out.force = flag(value);
    else
      fail(value, "is no key of train.precision; use type, level and force" +
                      suggestion(key, {"type", "level", "force"}));
  }
  if (out.type == DType::f64 && v.find("level") != nullptr)
    fail(v, "asks for f64 and for a level: f64 has no levels, which mix f32 with bf16 or f16");
  return out;
}

Value precision_value(const Job& j) {
  const Precision& p = j.train.precision;
  if (!p.is_mixed()) return Value{to_string(p)};
  if (!p.force && p.level == Precision::Level::O1) return Value{to_string(p)};
  Value::Table table{{"type", std::string(name(p.type))},
                     {"level", "O" + std::to_string(static_cast<int>(p.level))}};
  if (p.force) table.emplace_back("force", true);
  return Value{table};
}

}  // namespace

std::vector<Key> train_keys() {
  return {
      {"train.epochs", "passes over the training rows", false,
       [](const Value& v, Job& j) { j.train.epochs = whole(v, 1); },
       [](const Job& j) { return Value{j.train.epochs}; }},
      {"train.max_steps", "ends the run early; 0 is no limit", false,
       [](const Value& v, Job& j) { j.train.max_steps = whole(v, 0); },
       [](const Job& j) { return Value{j.train.max_steps}; }},
      {"train.loss", "a loss by name, or { name, options }", true,
       [](const Value& v, Job& j) { j.train.loss = choice(v, "the name of a loss"); },
       [](const Job& j) { return choice_value(j.train.loss); }},
      {"train.optimizer", "an optimizer by name, or { name, lr, options }", false,
       [](const Value& v, Job& j) { j.train.optimizer = choice(v, "the name of an optimizer"); },
       [](const Job& j) { return choice_value(j.train.optimizer); }},
      {"train.group", "parameters that learn with another rate or decay: match, lr, weight_decay", false,
       [](const Value& v, Job& j) { j.train.groups = groups(v); }, groups_value},
      {"train.schedule", "how the rate moves: a schedule by name, { name, options }, or a list of them",
       false,
       [](const Value& v, Job& j) {
         if (job_schedule(v).schedule == nullptr)
           wrong(v, "the name of a schedule, a table or a list of them");
         j.train.schedule = v;
       },
       [](const Job& j) { return j.train.schedule; }},
      {"train.clip", "what is done to gradients: { norm, value, centralize, noise }", false,
       [](const Value& v, Job& j) { j.train.gradients = gradients(v); }, gradients_value},
      {"train.accumulate", "batches whose gradients make one update", false,
       [](const Value& v, Job& j) { j.train.accumulate = whole(v, 1); },
       [](const Job& j) { return Value{j.train.accumulate}; }},
      {"train.precision",
       "types that the model computes in: f32, f64, bf16, f16, O0 to O3, or { type, level, force }", false,
       [](const Value& v, Job& j) { j.train.precision = precision(v); }, precision_value},
      {"train.memory", "what the training may take: bytes, \"2GB\", or a share of the machine's, \"50%\"",
       false, [](const Value& v, Job& j) { j.train.memory = memory_text(v); },
       [](const Job& j) { return j.train.memory.empty() ? Value{} : Value{j.train.memory}; }},
      {"train.recompute", "what the backward computes again instead of keeping it: a word or layers", false,
       [](const Value& v, Job& j) { read_recompute(v, j); }, recompute_value},
      {"train.freeze", "parameters that stay as they are: a pattern or a list of patterns", false,
       [](const Value& v, Job& j) {
         j.train.freeze = texts(v, "a pattern such as \"conv*\", or a list of patterns");
         j.train.freeze_where = place(v);
       },
       [](const Job& j) { return j.train.freeze.empty() ? Value{} : texts_value(j.train.freeze); }},
      {"train.unfreeze", "frozen parameters that join the training later: a list of { at, match }", false,
       [](const Value& v, Job& j) { j.train.unfreeze = thaws(v); }, thaws_value},
      {"train.frozen_norm", "train, or evaluate: a frozen batch_norm uses its running statistics", false,
       [](const Value& v, Job& j) {
         j.train.frozen_norm = one_of(v, {"train", "evaluate"});
       },
       [](const Job& j) { return Value{j.train.frozen_norm}; }},
      callback_key<"train.ema">("moving averages of the weights: the decay, or { decay, evaluate }"),
      callback_key<"train.swa">("the average of the weights of the last epochs: the rate, or a table"),
      callback_key<"train.nan_guard">("goes back and on with a smaller rate when the loss is lost"),
      callback_key<"train.monitor">("more about each epoch: true, or a list of what"),
      callback_key<"train.early_stopping">("ends the run when a metric has stopped getting better"),
      callback_key<"train.stop_at">("ends the run when a metric has reached a value"),
      callback_key<"train.max_time">("ends the run after so long: seconds, \"1h30m\" or \"01:30:00\""),
      callback_key<"train.checkpoint">("files from which the run can go on"),
      callback_key<"train.profile">("where the time of some steps goes: true, their number, or a table"),
      {"train.metrics", "what else to report of the validation rows", false,
       [](const Value& v, Job& j) { j.train.metrics = choices(v, "a list of names such as [\"accuracy\"]"); },
       [](const Job& j) { return choices_value(j.train.metrics); }},
      {"train.evaluate_every", "epochs from one validation to the next", false,
       [](const Value& v, Job& j) { j.train.evaluate_every = whole(v, 1); },
       [](const Job& j) { return Value{j.train.evaluate_every}; }},
      {"train.loggers", "where the numbers of the run go beside metrics.csv: names or tables", false,
       [](const Value& v, Job& j) {
         j.train.loggers = choices(v, "a list of names such as [\"jsonl\", \"tensorboard\"]");
         job_loggers(j.train.loggers, "");
       },
       [](const Job& j) { return choices_value(j.train.loggers); }},
      {"train.log_every", "steps from one that loggers get to the next; 0: epochs only", false,
       [](const Value& v, Job& j) {
         const auto* word = v.as<std::string>();
         if (word != nullptr && *word != "auto") wrong(v, "a whole number or \"auto\"");
         j.train.log_every = word != nullptr ? kLogAutomatically : whole(v, 0);
       },
       [](const Job& j) {
         return j.train.log_every < 0 ? Value{std::string("auto")} : Value{j.train.log_every};
       }},
      {"train.threads", "threads of the step; 0 lets the machine decide", false,
       [](const Value& v, Job& j) { j.train.threads = whole(v, 0, 4096); },
       [](const Job& j) { return Value{j.train.threads}; }},
      {"train.backend", "compiled, or reference: the plain interpreter", false,
       [](const Value& v, Job& j) {
         j.train.backend = one_of(v, {"compiled", "reference"});
       },
       [](const Job& j) { return Value{j.train.backend}; }},
  };
}

}  // namespace tightloop::train::keys
