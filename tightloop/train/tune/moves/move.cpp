// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/toml.h>
#include <tightloop/train/tune/moves/move.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::tune {
namespace {

const Key* find_key(std::string_view path) {
  for (const Key& key : job_keys())
    if (key.path == path) return &key;
  return nullptr;
}

/// `count` batches of one size as batches of another, at least one.
std::int64_t rescaled(std::int64_t count, std::int64_t from, std::int64_t to) {
  return std::max<std::int64_t>(1, (count * from + to - 1) / to);
}

}  // namespace

bool Situation::has_feature(std::string_view name) const {
  return std::find(features.begin(), features.end(), name) != features.end();
}

bool has_key(std::string_view path) { return find_key(path) != nullptr; }

std::string value_of(const Job& job, std::string_view path) {
  const Key* key = find_key(path);
  if (key == nullptr) return "";
  const Value value = key->write(job);
  return std::holds_alternative<std::monostate>(value.data) ? "" : write_toml_value(value);
}

std::string set(std::string_view key, std::int64_t value) { return fmt::format("{}={}", key, value); }
std::string set(std::string_view key, double value) {
  return fmt::format("{}={}", key, write_toml_value(Value{value}));
}
std::string set(std::string_view key, std::string_view toml) { return fmt::format("{}={}", key, toml); }

Proposal skip(std::string why) { return {{}, std::move(why)}; }

Settings with_batch(const Job& job, std::int64_t batch) {
  const std::int64_t before = job.data.batch;
  Settings out{set("data.batch", batch)};
  if (job.train.max_steps > 0)
    out.push_back(set("train.max_steps", rescaled(job.train.max_steps, before, batch)));
  if (const auto* limit = std::get_if<std::int64_t>(&job.train.limit_batches.given()))
    out.push_back(set("train.limit_batches", rescaled(*limit, before, batch)));
  if (const auto* limit = std::get_if<std::int64_t>(&job.train.limit_validation_batches.given()))
    out.push_back(set("train.limit_validation_batches", rescaled(*limit, before, batch)));
  if (job.train.log_every > 1)
    out.push_back(set("train.log_every", rescaled(job.train.log_every, before, batch)));
  return out;
}

std::string batch_is_bound(const Job& job) {
  if (job.train.overfit_batches > 0) return "train.overfit_batches counts the job's batches";
  for (const auto& [name, value] : job.train.callbacks)
    if (value.find("every_steps") != nullptr) return fmt::format("train.{}.every_steps counts batches", name);
  if (!std::holds_alternative<std::monostate>(job.train.schedule.data))
    return "train.schedule says rates or lengths of its own, made for this batch";
  return "";
}

}  // namespace tightloop::train::tune
