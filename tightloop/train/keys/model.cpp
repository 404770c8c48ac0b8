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
       [](const Value& v, Job& j) { j.model.weights = text(v); },
       [](const Job& j) { return path_value(j, j.model.weights); }},
      {"model.forward", "how the output follows from the inputs", true,
       [](const Value& v, Job& j) { j.model.forward = placed_text(v); },
       [](const Job& j) { return Value{j.model.forward.text}; }},
  };
}

}  // namespace tightloop::train::keys
