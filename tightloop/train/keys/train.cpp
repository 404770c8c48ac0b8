// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>

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
      {"train.metrics", "what else to report of the validation rows", false,
       [](const Value& v, Job& j) { j.train.metrics = choices(v, "a list of names such as [\"accuracy\"]"); },
       [](const Job& j) { return choices_value(j.train.metrics); }},
      {"train.evaluate_every", "epochs from one validation to the next", false,
       [](const Value& v, Job& j) { j.train.evaluate_every = whole(v, 1); },
       [](const Job& j) { return Value{j.train.evaluate_every}; }},
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
