// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/jsonl.h>

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace tightloop::train {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kEpochLine = "{\"kind\":\"epoch\"";
/// Lines are written when they are so many bytes, or when there is nothing else to do.
constexpr std::size_t kBlock = 1 << 20;

std::string key_of(const std::string& name) { return "," + nlohmann::json(name).dump() + ":"; }

/// With as many digits as tell it from other f32 numbers where it is one.
void add_number(std::string& out, double v) {
  if (!std::isfinite(v))
    out += "null";
  else if (const auto small = static_cast<float>(v); static_cast<double>(small) == v)
    fmt::format_to(std::back_inserter(out), "{}", small);
  else
    fmt::format_to(std::back_inserter(out), "{}", v);
}

/// The whole number behind `key` in a line.
std::optional<std::int64_t> number_in(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  std::int64_t value = 0;
  const char* begin = line.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error != std::errc() || end == begin) return {};
  return value;
}

/// Of lines that are whole; 0: there is none.
std::int64_t last_epoch(std::string_view text) {
  const auto at = text.rfind(kEpochLine);
  return at == std::string_view::npos ? 0 : number_in(text.substr(at), "\"epoch\":").value_or(0);
}

bool is_later(std::string_view line, std::int64_t step, std::int64_t epochs) {
  const auto own = number_in(line, "\"step\":"), epoch = number_in(line, "\"epoch\":");
  if (!own || !epoch || !line.ends_with('}')) return true;  // cut short
  return *own > step || (line.starts_with(kEpochLine) && *epoch > epochs);
}

}  // namespace

std::size_t lines_until(std::string_view text, std::int64_t step, std::int64_t epochs) {
  const auto newline = text.rfind('\n');
  std::size_t end = newline == std::string_view::npos ? 0 : newline + 1;
  while (end > 0) {
    const auto before = end < 2 ? std::string_view::npos : text.rfind('\n', end - 2);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (!is_later(text.substr(begin, end - 1 - begin), step, epochs)) break;
    end = begin;
  }
  return end;
}

void JsonLines::start(const RunInfo& info) {
  values_.clear();
  metrics_.clear();
  waiting_.clear();
  for (const std::string& v : info.values) values_.push_back(key_of(v));
  for (const std::string& m : info.metrics) metrics_.push_back(key_of(m));
  file_.open(path_, info.resumed_at > 0 ? std::numeric_limits<std::uint64_t>::max() : 0);
  if (info.resumed_at == 0) return;
  cut_after(info.resumed_at, info.before.empty() ? 0 : info.before.back().epoch);
  const std::int64_t last = last_epoch(map_file(path_).text());
  for (const EpochRecord& e : info.before)
    if (e.epoch > last) add_epoch(e);
}

void JsonLines::steps(std::span<const StepRecord> records) {
  for (const StepRecord& r : records) {
    fmt::format_to(std::back_inserter(waiting_), "{{\"kind\":\"step\",\"step\":{},\"epoch\":{}", r.step,
                   r.epoch);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      waiting_ += values_[i];
      add_number(waiting_, r.values[i]);
    }
    waiting_ += "}\n";
  }
  if (waiting_.size() > kBlock) flush();
}

void JsonLines::epoch(const EpochRecord& record, const Weights&) { add_epoch(record); }

void JsonLines::add_epoch(const EpochRecord& e) {
  const auto add = [&](std::string_view key, double value) {
    waiting_ += key;
    add_number(waiting_, value);
  };
  fmt::format_to(std::back_inserter(waiting_), "{{\"kind\":\"epoch\",\"step\":{},\"epoch\":{}", e.step,
                 e.epoch);
  add(",\"train_loss\":", e.train_loss);
  const double none = std::numeric_limits<double>::quiet_NaN();
  add(",\"validation_loss\":", e.validation ? e.validation->loss : none);
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    add(metrics_[i], e.validation ? e.validation->metrics.at(i) : none);
  add(",\"lr\":", e.lr);
  for (const auto& [name, value] : e.extra)
    if (name != "lr") add(key_of(name), value);
  fmt::format_to(std::back_inserter(waiting_), ",\"samples_per_s\":{:.1f},\"seconds\":{:.3f}}}\n",
                 e.samples_per_s, e.seconds);
}

void JsonLines::rewind(std::int64_t step) {
  flush();
  cut_after(step, kAll);
}

void JsonLines::cut_after(std::int64_t step, std::int64_t epochs) {
  const Bytes bytes = map_file(path_);
  file_.cut(lines_until(bytes.text(), step, epochs));
}

void JsonLines::flush() {
  if (waiting_.empty()) return;
  file_.append(waiting_);
  waiting_.clear();
}

const LoggerDef& jsonl_logger() {
  static const LoggerDef def{
      "jsonl",
      "metrics.jsonl: a JSON object a line, for recorded steps and for epochs",
      {},
      [](const Options&, const std::string& folder) -> std::shared_ptr<Logger> {
        return std::make_shared<JsonLines>((std::filesystem::path(folder) / kJsonLines).string());
      }};
  return def;
}

}  // namespace tightloop::train
