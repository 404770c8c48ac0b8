// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/job.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/overrides.h>
#include <tightloop/train/toml.h>

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tightloop::train {
namespace {

std::string section_of(std::string_view path) {
  const auto dot = path.find('.');
  return dot == std::string_view::npos ? "" : std::string(path.substr(0, dot));
}

std::string last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? path : path.substr(dot + 1));
}

const Key* find_key(std::string_view path) {
  for (const Key& key : job_keys())
    if (key.path == path) return &key;
  return nullptr;
}

bool is_section(std::string_view name) {
  for (const Key& key : job_keys())
    if (section_of(key.path) == name) return !name.empty();
  return false;
}

/// Names that may stand in `section` ("" is the top of the file).
std::vector<std::string> names_in(std::string_view section) {
  std::vector<std::string> names;
  for (const Key& key : job_keys()) {
    if (section_of(key.path) == section)
      names.push_back(last_part(key.path));
    else if (section.empty() && (names.empty() || names.back() != section_of(key.path)))
      names.push_back(section_of(key.path));
  }
  return names;
}

[[noreturn]] void unknown(const Value& value, const std::string& section, const std::string& name) {
  std::string hint = suggestion(name, names_in(section));
  for (const Key& key : job_keys())
    if (hint.empty() && last_part(key.path) == name) hint = fmt::format(" (did you mean {}?)", key.path);
  if (hint.empty()) {
    hint = section.empty() ? "; the file may hold" : fmt::format("; [{}] may hold", section);
    hint += fmt::format(" {}", fmt::join(names_in(section), ", "));
  }
  throw Error(fmt::format("{}: unknown key {}{}", value.where, value.path, hint));
}

void read_section(const Value& section, const std::string& name, Job& job) {
  const auto* table = section.as<Value::Table>();
  if (table == nullptr) wrong(section, "a table");
  for (const auto& [key, value] : *table) {
    const Key* known = find_key(name + "." + key);
    if (known == nullptr) unknown(value, name, key);
    known->read(value, job);
  }
}

void check_required(const Value& document, const Job& job) {
  for (const Key& key : job_keys()) {
    if (!key.required) continue;
    const Value* section = document.find(section_of(key.path));
    if (section == nullptr || section->find(last_part(key.path)) == nullptr)
      throw Error(fmt::format("{}: {} is missing ({})", job.source, key.path, key.meaning));
  }
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ec;
  if (!in || std::filesystem::is_directory(path, ec))
    throw Error(path + ": cannot read the job file; is the path right?");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Job parse_job(std::string_view text, const std::string& source, const std::vector<std::string>& overrides) {
  Value document = parse_toml(text, source);
  for (const auto& o : overrides) apply_override(document, o);
  Job job;
  job.source = source;
  for (const auto& [name, value] : *document.as<Value::Table>()) {
    if (const Key* key = find_key(name))
      key->read(value, job);
    else if (is_section(name))
      read_section(value, name, job);
    else
      unknown(value, "", name);
  }
  check_required(document, job);
  keys::check_views(document, job);
  return job;
}

Job load_job(const std::string& path, const std::vector<std::string>& overrides) {
  Job job = parse_job(read_file(path), path, overrides);
  job.folder = std::filesystem::path(path).parent_path().string();
  return job;
}

std::string to_toml(const Job& job) {
  Value::Table document;
  for (const Key& key : job_keys()) {
    Value value = key.write(job);
    if (std::holds_alternative<std::monostate>(value.data)) continue;
    const std::string section = section_of(key.path);
    if (section.empty()) {
      document.emplace_back(std::string(key.path), std::move(value));
      continue;
    }
    if (document.empty() || document.back().first != section) document.emplace_back(section, Value::Table{});
    document.back().second.as<Value::Table>()->emplace_back(last_part(key.path), std::move(value));
  }
  return write_toml(document);
}

std::string resolve(const Job& job, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return path;
  return fs::absolute(fs::path(job.folder) / path).lexically_normal().string();
}

}  // namespace tightloop::train
