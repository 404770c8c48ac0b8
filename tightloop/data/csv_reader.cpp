// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/csv_bytes.h>
#include <tightloop/data/csv_reader.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tightloop::data {
namespace {

/// Behind the last line end that has kReadAhead bytes behind it.
const char* fast_end(std::string_view text) {
  if (!kFastBytes || text.size() < static_cast<std::size_t>(kReadAhead)) return text.data();
  const std::size_t last = text.substr(0, text.size() - kReadAhead).find_last_of("\r\n");
  return text.data() + (last == std::string_view::npos ? 0 : last + 1);
}

template <class T>
bool missing_number(std::string_view text, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!is_missing(text)) return false;
    out = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  return false;
}

template <class T>
T* element(const ColumnRun& run, std::size_t i) {
  return reinterpret_cast<T*>(run.to) + i;
}

/// Calls visit(T()) with the element type of `dtype`.
template <class Visit>
auto with_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::f64:
      return visit(double{});
    case DType::i32:
      return visit(std::int32_t{});
    case DType::i64:
      return visit(std::int64_t{});
    default:
      return visit(float{});
  }
}

}  // namespace

std::int64_t TextNumbers::of(std::string_view text, std::size_t limit) {
  const auto [it, fresh] = numbers_.emplace(text, static_cast<std::int64_t>(texts_.size()));
  if (!fresh) return it->second;
  texts_.push_back(text);
  return texts_.size() <= limit ? it->second : -1;
}

std::int64_t TextNumbers::of_copy(std::string text, std::size_t limit) {
  const auto it = numbers_.find(text);
  return it != numbers_.end() ? it->second : of(copies_.emplace_back(std::move(text)), limit);
}

CsvReader::CsvReader(std::string_view text, char separator, const std::string& name, std::size_t columns,
                     std::vector<ColumnRun> runs, std::size_t texts, std::size_t limit)
    : end_(text.data() + text.size()),
      fast_end_(fast_end(text)),
      separator_(separator),
      columns_(columns),
      runs_(std::move(runs)),
      texts_(texts),
      limit_(limit),
      records_(text, separator, name) {
  std::size_t column = 0;
  for (ColumnRun& run : runs_) {
    run.last = column + run.count == columns;
    column += run.again ? 0 : run.count;
  }
}

bool CsvReader::read(const CsvStretch& stretch) {
  const char* p = stretch.begin;
  for (;;) {
    while (p != end_ && ends_line(*p)) ++p;
    if (p >= stretch.end) return true;
    const char* next = p < fast_end_ ? plain_record(p) : nullptr;
    if (next != nullptr)
      p = next;
    else if (!cut_record(p))
      return false;
    for (ColumnRun& run : runs_)
      if (run.wanted) run.to += run.row_bytes;
    ++rows_;
  }
}

/// The end of the line; null when the record is not plain or not right.
const char* CsvReader::plain_record(const char* p) {
  for (const ColumnRun& run : runs_) {
    const char* next = run.wanted ? plain_run(p, run) : skip(p, run);
    if (next == nullptr) return nullptr;
    if (!run.again) p = next;
  }
  return p;
}

const char* CsvReader::plain_run(const char* p, const ColumnRun& run) {
  return with_type(run.dtype, [&]<class T>(T) { return run.text ? text<T>(p, run) : numbers<T>(p, run); });
}

/// Where the next field begins, or the record's end; null when the field ends otherwise.
const char* CsvReader::behind(const char* end, bool last) const {
  if (last) return ends_line(*end) ? end : nullptr;
  return *end == separator_ ? end + 1 : nullptr;
}

template <class T>
const char* CsvReader::numbers(const char* p, const ColumnRun& run) const {
  T* out = element<T>(run, 0);
  for (std::size_t left = run.count; left > 0; --left, ++out) {
    const char* end = read_plain(p, *out);
    if (end == nullptr || (*end != separator_ && !ends_line(*end)))
      end = number_in_field(p, *out, run.missing);
    if (end == nullptr) return nullptr;
    p = behind(end, run.last && left == 1);
    if (p == nullptr) return nullptr;
  }
  return p;
}

template <class T>
const char* CsvReader::number_in_field(const char* p, T& out, bool missing) const {
  const char* end = field_end(p, separator_);
  if (*end == '"' || *end == '\0') return nullptr;
  const std::string_view field(p, static_cast<std::size_t>(end - p));
  return parse_number(field, out) || (missing && missing_number(field, out)) ? end : nullptr;
}

template <class T>
const char* CsvReader::text(const char* p, const ColumnRun& run) {
  const char* end = field_end(p, separator_);
  if (*end == '"' || *end == '\0') return nullptr;
  const std::int64_t number = texts_[run.texts].of({p, static_cast<std::size_t>(end - p)}, limit_);
  *element<T>(run, 0) = static_cast<T>(number);
  return number < 0 ? nullptr : behind(end, run.last);
}

const char* CsvReader::skip(const char* p, const ColumnRun& run) const {
  for (std::size_t left = run.count; p != nullptr && left > 0; --left)
    p = behind(field_end(p, separator_), run.last && left == 1);
  return p;
}

bool CsvReader::cut_record(const char*& p) {
  try {
    records_.go_to(p);
    if (!records_.next() || records_.cells().size() != columns_) return false;
  } catch (const Error&) {
    return false;
  }
  std::size_t column = 0;
  for (const ColumnRun& run : runs_) {
    for (std::size_t i = 0; run.wanted && i < run.count; ++i)
      if (!store(run, records_.cells()[column + i], i)) return false;
    column += run.again ? 0 : run.count;
  }
  p = records_.at();
  return true;
}

bool CsvReader::store(const ColumnRun& run, const CsvCell& cell, std::size_t i) {
  return with_type(run.dtype, [&]<class T>(T) {
    T& out = *element<T>(run, i);
    if (!run.text) return parse_number(cell.text, out) || (run.missing && missing_number(cell.text, out));
    const std::int64_t number = cell.escaped ? texts_[run.texts].of_copy(cell.value(), limit_)
                                             : texts_[run.texts].of(cell.text, limit_);
    out = static_cast<T>(number);
    return number >= 0;
  });
}

}  // namespace tightloop::data
