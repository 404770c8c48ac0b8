// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train::keys {
namespace {

std::vector<std::int64_t> static_shape(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr || list->size() > 8) wrong(v, "a shape such as [3, 4] (at most 8 dims)");
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Value& e : *list) {
    shape.push_back(whole(e, 1));
    if (__builtin_mul_overflow(elements, shape.back(), &elements) || elements > (std::int64_t{1} << 40))
      fail(v, "has too many elements");
  }
  return shape;
}

FreeParameter parameter(const std::string& name, const Value& v) {
  check_name(v, name);
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) return {name, static_shape(v)};
  FreeParameter out{name, {}};
  bool shaped = false;
  for (const auto& [key, value] : *table) {
    if (key == "shape")
      out.shape = static_shape(value), shaped = true;
    else if (key == "init")
      out.init = value;
    else
      fail(value, "is no key of a parameter; use shape and init" + suggestion(key, {"shape", "init"}));
  }
  if (!shaped) fail(v, "has no shape: write { shape = [3, 4], init = 0.1 }");
  if (out.init.as<std::string>() == nullptr && out.init.as<double>() == nullptr &&
      out.init.as<std::int64_t>() == nullptr)
    wrong(out.init, "a number or the name of an initialiser");
  if (const auto* number = out.init.as<double>(); number != nullptr && !std::isfinite(*number))
    wrong(out.init, "a finite number");
  return out;
}

std::vector<FreeParameter> parameters(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as { par = [1] }");
  std::vector<FreeParameter> out;
  for (const auto& [name, p] : *table) out.push_back(parameter(name, p));
  return out;
}

Value parameters_value(const Job& j) {
  Value::Table table;
  for (const FreeParameter& p : j.model.parameters) {
    Value shape = Value::List(p.shape.begin(), p.shape.end());
    table.emplace_back(p.name, Value::Table{{"shape", shape}, {"init", p.init}});
  }
  return table.empty() ? Value{} : Value{table};
}

std::pair<std::string, std::string> rule(const Value& v) {
  const auto* pair = v.as<Value::List>();
  if (pair == nullptr || pair->size() != 2) wrong(v, "a pair [\"pattern\", \"replacement\"]");
  const auto* to = (*pair)[1].as<std::string>();
  if (to == nullptr) wrong((*pair)[1], "a string");
  return {text((*pair)[0]), *to};
}

/// A path, or a table with the file and how its names are to be read.
void weights(const Value& v, Job::Model& out) {
  const auto* table = v.as<Value::Table>();
  out.weight_map = {};
  if (table == nullptr) {
    out.weights = text(v);
    return;
  }
  for (const auto& [key, value] : *table) {
    if (key == "file")
      out.weights = text(value);
    else if (key == "strip")
      out.weight_map.strip = text(value);
    else if (key == "add")
      out.weight_map.add = text(value);
    else if (key == "strict")
      out.weight_map.strict = flag(value);
    else if (key != "map")
      fail(value, "is no key of model.weights" + suggestion(key, {"file", "strip", "add", "map", "strict"}));
    else if (const auto* list = value.as<Value::List>(); list != nullptr)
      for (const Value& e : *list) out.weight_map.map.push_back(rule(e));
    else
      wrong(value, "a list of pairs [\"pattern\", \"replacement\"]");
  }
  if (out.weights.empty()) fail(v, "has no file: write { file = \"weights.safetensors\", … }");
}

Value weights_value(const Job& j) {
  const Value file = path_value(j, j.model.weights);
  const WeightMap& map = j.model.weight_map;
  if (j.model.weights.empty() || (!map.changes_names() && map.strict)) return file;
  Value::Table table{{"file", file}};
  if (!map.strip.empty()) table.emplace_back("strip", map.strip);
  if (!map.add.empty()) table.emplace_back("add", map.add);
  Value::List rules;
  for (const auto& [from, to] : map.map) rules.emplace_back(Value::List{Value{from}, Value{to}});
  if (!rules.empty()) table.emplace_back("map", std::move(rules));
  if (!map.strict) table.emplace_back("strict", false);
  return table;
}

Text placed_text(const Value& v) {
  std::string source = v.where;
  if (v.line > 0)
    for (int i = 0; i < 2; ++i) source.resize(source.rfind(':'));
  else
    source = v.path;
  return {text(v), source, v.line, v.column};
}

}  // namespace

std::vector<Key> model_keys() {
  return {
      {"model.parameters", "free parameters: name = shape, or { shape, init }", false,
       [](const Value& v, Job& j) { j.model.parameters = parameters(v); }, parameters_value},
      {"model.weights", "a safetensors file to start from", false,
       [](const Value& v, Job& j) { weights(v, j.model); }, weights_value},
      {"model.forward", "how the output follows from the inputs", true,
       [](const Value& v, Job& j) { j.model.forward = placed_text(v); },
       [](const Job& j) { return Value{j.model.forward.text}; }},
  };
}

}  // namespace tightloop::train::keys
