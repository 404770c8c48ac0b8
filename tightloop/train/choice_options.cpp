// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/choice_options.h>

namespace tightloop::train {
namespace {

OptionValue to_option(const Value& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i;
  if (const auto* d = v.as<double>()) return *d;
  if (const auto* s = v.as<std::string>()) return *s;
  const auto* list = v.as<Value::List>();
  if (list == nullptr) wrong(v, "a number, a string, true, false or a list of numbers");
  Numbers numbers;
  for (const Value& e : *list) {
    const auto* i = e.as<std::int64_t>();
    const auto* d = e.as<double>();
    if (i == nullptr && d == nullptr) wrong(e, "a number");
    numbers.push_back(i != nullptr ? static_cast<double>(*i) : *d);
  }
  return numbers;
}

}  // namespace

Options to_options(const Choice& choice) {
  Options out;
  for (const auto& [name, value] : *choice.options.as<Value::Table>()) out.set(name, to_option(value));
  return out;
}

}  // namespace tightloop::train
