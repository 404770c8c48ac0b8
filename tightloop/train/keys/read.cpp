// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train::keys {

std::int64_t whole(const Value& v, std::int64_t low, std::int64_t high) {
  const auto* i = v.as<std::int64_t>();
  if (i != nullptr && *i >= low && *i <= high) return *i;
  wrong(v, i != nullptr && *i > high ? fmt::format("a whole number of at most {}", high)
                                     : fmt::format("a whole number of at least {}", low));
}

bool flag(const Value& v) {
  if (const auto* b = v.as<bool>()) return *b;
  wrong(v, "true or false");
}

std::string text(const Value& v, const std::string& wanted) {
  const auto* s = v.as<std::string>();
  if (s != nullptr && !s->empty() && s->find('\0') == std::string::npos) return *s;
  wrong(v, wanted);
}

std::string one_of(const Value& v, const std::vector<std::string>& names) {
  const auto* s = v.as<std::string>();
  if (s != nullptr && std::find(names.begin(), names.end(), *s) != names.end()) return *s;
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  fail(v, "must be " + list + ", not " + describe(v) + (s != nullptr ? suggestion(*s, names) : ""));
}

void check_name(const Value& v, const std::string& name) {
  const bool starts = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!starts || !std::all_of(name.begin(), name.end(), letter))
    fail(v, fmt::format("has the name '{}', which the forward text cannot use: take letters, digits and _",
                        name));
}

std::vector<std::string> texts(const Value& v, const std::string& wanted) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) return {text(v, wanted)};
  std::vector<std::string> out;
  for (const Value& e : *list) out.push_back(text(e, wanted));
  if (out.empty()) wrong(v, wanted);
  return out;
}

std::string place(const Value& v) { return v.where + ": " + v.path; }

Choice choice(const Value& v, const std::string& wanted) {
  if (v.as<Value::Table>() == nullptr) return {text(v, wanted), Value::Table{}, place(v)};
  const Value* name = v.find("name");
  if (name == nullptr) fail(v, "has no name: write { name = \"…\", … }");
  Choice out{text(*name, wanted), v, place(v)};
  auto& options = *out.options.as<Value::Table>();
  std::erase_if(options, [](const auto& entry) { return entry.first == "name"; });
  return out;
}

std::vector<Choice> choices(const Value& v, const std::string& wanted) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) return {choice(v, wanted)};
  std::vector<Choice> out;
  for (const Value& e : *list) {
    out.push_back(choice(e, e.as<Value::Table>() != nullptr ? "a name" : wanted));
    const auto* name = e.as<std::string>();
    for (std::size_t i = 0; name != nullptr && i + 1 < out.size(); ++i)
      if ((*list)[i].as<std::string>() != nullptr && out[i].name == *name)
        fail(e, "names " + *name + " twice");
  }
  return out;
}

double not_negative(const Value& v) {
  const auto* i = v.as<std::int64_t>();
  const auto* f = v.as<double>();
  const double number = f != nullptr ? *f : i != nullptr ? static_cast<double>(*i) : -1;
  if (!(number >= 0) || !std::isfinite(number)) wrong(v, "a number of at least 0");
  return number;
}

Value texts_value(const std::vector<std::string>& list) {
  if (list.size() == 1) return list[0];
  return Value::List(list.begin(), list.end());
}

Value choice_value(const Choice& c) {
  const auto& options = *c.options.as<Value::Table>();
  if (c.name.empty() || options.empty()) return c.name.empty() ? Value{} : Value{c.name};
  Value::Table table{{"name", c.name}};
  table.insert(table.end(), options.begin(), options.end());
  return table;
}

Value choices_value(const std::vector<Choice>& list) {
  Value::List out;
  for (const Choice& c : list) out.push_back(choice_value(c));
  return out;
}

Value path_value(const Job& j, const std::string& path) {
  return path.empty() ? Value{} : Value{resolve(j, path)};
}

}  // namespace tightloop::train::keys
