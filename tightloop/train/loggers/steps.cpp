// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/steps.h>

#include <fmt/format.h>
#include <cstring>
#include <filesystem>

namespace tightloop::train {
namespace {

/// Rows are written when they are so many bytes, or when there is nothing else to do.
constexpr std::size_t kBlock = 1 << 18;

template <class T>
char* put(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

template <class T>
void add_rows(std::string& out, std::span<const StepRecord> records, std::size_t row_bytes) {
  const std::size_t before = out.size();
  out.resize(before + records.size() * row_bytes);
  char* to = out.data() + before;
  for (const StepRecord& r : records) {
    to = put(to, r.step);
    for (const double v : r.values) to = put(to, static_cast<T>(v));
  }
}

}  // namespace

std::int64_t rows_until(const io::NpyTable& table, std::string_view text, std::int64_t step) {
  std::int64_t first = 0, last = table.rows;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (table.at(text, middle, 0) <= static_cast<double>(step))
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

void StepTable::start(const RunInfo& info) {
  wide_ = info.step_dtype == DType::f64;
  columns_ = {{"step", DType::i64}};
  for (const std::string& v : info.values) columns_.push_back({v, info.step_dtype});
  waiting_.clear();
  if (info.values.empty()) return;  // no steps come
  std::error_code ec;
  if (info.resumed_at > 0 && std::filesystem::file_size(path_, ec) > 0 && !ec)
    go_on();
  else
    begin_anew();
}

void StepTable::begin_anew() {
  rows_ = 0;
  file_.open(path_, 0);
  file_.append(io::npy_table_header(columns_, 0));
}

void StepTable::go_on() {
  const Bytes bytes = map_file(path_);
  const io::NpyTable table = io::parse_npy_table(bytes.text(), path_);
  if (table.columns != columns_)
    throw Error(path_ + ": has other columns than the steps of this run; move it away to begin a new one");
  rows_ = table.rows;
  file_.open(path_, table.start + static_cast<std::uint64_t>(rows_) * table.row_bytes);
}

void StepTable::steps(std::span<const StepRecord> records) {
  const std::size_t row_bytes = io::bytes_of_row(columns_);
  if (wide_)
    add_rows<double>(waiting_, records, row_bytes);
  else
    add_rows<float>(waiting_, records, row_bytes);
  rows_ += static_cast<std::int64_t>(records.size());
  if (waiting_.size() > kBlock) flush();
}

void StepTable::rewind(std::int64_t step) {
  if (!file_.is_open()) return;
  flush();
  const Bytes bytes = map_file(path_);
  const io::NpyTable table = io::parse_npy_table(bytes.text(), path_);
  rows_ = rows_until(table, bytes.text(), step);
  file_.rewrite_start(io::npy_table_header(columns_, rows_));
  file_.cut(table.start + static_cast<std::uint64_t>(rows_) * table.row_bytes);
}

void StepTable::flush() {
  if (waiting_.empty()) return;
  file_.append(waiting_);
  file_.rewrite_start(io::npy_table_header(columns_, rows_));
  waiting_.clear();
}

const LoggerDef& steps_logger() {
  static const LoggerDef def{
      "steps",
      "steps.npy: every recorded step, a table that numpy.load opens",
      {},
      [](const Options&, const std::string& folder) -> std::shared_ptr<Logger> {
        return std::make_shared<StepTable>((std::filesystem::path(folder) / kStepTable).string());
      }};
  return def;
}

}  // namespace tightloop::train
