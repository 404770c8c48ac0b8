// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/overrides.h>
#include <tightloop/train/toml.h>

#include <cctype>

namespace tightloop::train {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  std::size_t i = 0;
  while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) != 0) ++i;
  return text.substr(i);
}

void set_paths(Value& value, const std::string& path) {
  value.path = path;
  if (auto* table = value.as<Value::Table>())
    for (auto& [key, v] : *table) set_paths(v, path + "." + key);
  if (auto* list = value.as<Value::List>())
    for (auto& v : *list) set_paths(v, path);
}

Value& entry(Value& parent, const std::string& key) {
  if (const auto* text = parent.as<std::string>()) {
    Value name{*text};
    name.where = parent.where, name.path = parent.path + ".name";
    parent.data = Value::Table{{"name", std::move(name)}};
  }
  if (parent.as<Value::Table>() == nullptr) parent.data = Value::Table{};
  if (Value* found = parent.find(key)) return *found;
  auto& table = *parent.as<Value::Table>();
  table.emplace_back(key, Value{});
  return table.back().second;
}

}  // namespace

void apply_override(Value& document, const std::string& text) {
  const auto equals = text.find('=');
  const std::string path = trimmed(text.substr(0, equals == std::string::npos ? 0 : equals));
  const std::string where = "--set " + text;
  if (path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos)
    throw Error(where + ": write --set key=value, such as --set train.epochs=3");
  Value* at = &document;
  std::string done;
  for (std::size_t start = 0; start <= path.size();) {
    const auto dot = std::min(path.find('.', start), path.size());
    const std::string part = path.substr(start, dot - start);
    at = &entry(*at, part);
    done += (done.empty() ? "" : ".") + part;
    if (at->path.empty()) at->path = done, at->where = where;
    start = dot + 1;
  }
  *at = parse_toml_value(trimmed(text.substr(equals + 1)), where);
  set_paths(*at, path);
}

}  // namespace tightloop::train
