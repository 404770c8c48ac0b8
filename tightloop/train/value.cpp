// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/value.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

std::string shortened(const std::string& text) {
  constexpr std::size_t limit = 60;
  return text.size() <= limit ? text : text.substr(0, limit) + "…";
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  if (const Table* table = as<Table>())
    for (const auto& [name, value] : *table)
      if (name == key) return &value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(key));
}

std::string describe(const Value& value) {
  if (const auto* v = value.as<bool>()) return *v ? "true" : "false";
  if (const auto* v = value.as<std::int64_t>()) return fmt::format("the whole number {}", *v);
  if (const auto* v = value.as<double>()) return fmt::format("the number {}", *v);
  if (const auto* v = value.as<std::string>()) return fmt::format("the string '{}'", shortened(*v));
  if (value.as<Value::List>() != nullptr) return "a list";
  if (value.as<Value::Table>() != nullptr) return "a table";
  return "a value of another kind (a date or a time)";
}

void fail(const Value& value, const std::string& problem) {
  throw Error(value.where + ": " + (value.path.empty() ? "" : value.path + " ") + problem);
}

void wrong(const Value& value, const std::string& wanted) {
  fail(value, "must be " + wanted + ", not " + describe(value));
}

}  // namespace tightloop::train
