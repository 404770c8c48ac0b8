// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/mapped.h>
#include <tightloop/data/csv.h>
#include <tightloop/data/csv_reader.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>

namespace tightloop::data {
namespace {

/// Room for rows that are all going to be written; not cleared, so what is not needed costs nothing.
Array room_for(DType dtype, std::int64_t rows, std::size_t columns) {
  const auto wide = static_cast<std::int64_t>(columns);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(rows), columns * size_of(dtype), &bytes))
    throw Error("a table of " + std::to_string(rows) + " rows does not fit into memory");
  void* p = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (p == nullptr) throw std::bad_alloc();
  return Array::borrow(dtype, {rows, wide}, p, std::shared_ptr<void>(p, std::free));
}

/// The first rows of `all`, sharing its bytes.
Array first_rows(const Array& all, std::int64_t rows) {
  const auto owner = std::make_shared<Array>(all);
  return Array::borrow(all.dtype(), {rows, all.dims()[1]}, owner->bytes(), owner);
}

struct Place {
  std::size_t column, request, place;
};

/// Who reads which column, by columns.
std::vector<Place> places_of(std::span<const ColumnRequest> requests) {
  std::vector<Place> out;
  for (std::size_t r = 0; r < requests.size(); ++r)
    for (std::size_t i = 0; i < requests[r].columns.size(); ++i)
      out.push_back({requests[r].columns[i], r, i});
  std::stable_sort(out.begin(), out.end(),
                   [](const Place& a, const Place& b) { return a.column < b.column; });
  return out;
}

std::size_t row_bytes(const ColumnRequest& request) {
  return request.columns.size() * size_of(request.dtype);
}

/// One read of a table: the requests as runs of columns, the arrays they go to, and the texts in them.
class Reading {
 public:
  Reading(std::span<const ColumnRequest> requests, std::size_t columns)
      : requests_(requests), columns_(columns) {
    const auto places = places_of(requests);
    auto next = places.begin();
    for (std::size_t c = 0; c < columns; ++c) {
      if (next == places.end() || next->column != c) add_skipped();
      for (; next != places.end() && next->column == c; ++next)
        add(*next, next + 1 != places.end() && next[1].column == c);
    }
  }

  std::size_t texts() const { return texts_.size(); }
  std::size_t columns() const { return columns_; }

  void make_room(std::int64_t rows) {
    for (const auto& r : requests_) arrays_.push_back(room_for(r.dtype, rows, r.columns.size()));
  }
  /// The runs of a stretch whose first row is `row`.
  std::vector<ColumnRun> runs_from(std::int64_t row) {
    std::vector<ColumnRun> out;
    for (const auto& [run, request, place] : runs_) {
      out.push_back(run);
      if (!run.wanted) continue;
      out.back().to = arrays_[request].bytes() + static_cast<std::size_t>(row) * run.row_bytes +
                      place * size_of(run.dtype);
    }
    return out;
  }
  void move_rows(std::int64_t from, std::int64_t to, std::int64_t rows) {
    for (std::size_t r = 0; from != to && r < arrays_.size(); ++r) {
      const std::size_t bytes = row_bytes(requests_[r]);
      std::byte* all = arrays_[r].bytes();
      std::memmove(all + static_cast<std::size_t>(to) * bytes, all + static_cast<std::size_t>(from) * bytes,
                   static_cast<std::size_t>(rows) * bytes);
    }
  }
  /// `numbers[t]` are the new numbers of the texts of `rows` rows.
  void renumber(std::int64_t row, std::int64_t rows, std::size_t t,
                const std::vector<std::int64_t>& numbers) {
    const Place& p = texts_[t];
    Array& a = arrays_[p.request];
    const auto wide = a.dims()[1];
    for (std::int64_t i = row * wide + static_cast<std::int64_t>(p.place); rows > 0; --rows, i += wide)
      a.set_int(i, numbers[static_cast<std::size_t>(a.int_at(i))]);
  }
  std::vector<ColumnValues> take(std::int64_t rows, std::vector<std::vector<std::string>> names) {
    std::vector<ColumnValues> out;
    for (std::size_t r = 0; r < arrays_.size(); ++r)
      out.push_back(
          {first_rows(arrays_[r], rows), std::vector<std::vector<std::string>>(requests_[r].texts.size())});
    for (std::size_t t = 0; t < texts_.size(); ++t) {
      const auto& wanted = requests_[texts_[t].request].texts;
      const auto i = std::find(wanted.begin(), wanted.end(), texts_[t].place) - wanted.begin();
      out[texts_[t].request].names[static_cast<std::size_t>(i)] = std::move(names[t]);
    }
    return out;
  }

 private:
  struct Run {
    ColumnRun run;
    std::size_t request = 0, place = 0;
  };

  void add_skipped() {
    if (!runs_.empty() && !runs_.back().run.wanted)
      ++runs_.back().run.count;
    else
      runs_.push_back({});
  }
  void add(const Place& p, bool again) {
    const ColumnRequest& request = requests_[p.request];
    const bool text = std::find(request.texts.begin(), request.texts.end(), p.place) != request.texts.end();
    if (!text && !again && !runs_.empty() && goes_on(runs_.back(), p)) {
      ++runs_.back().run.count;
      return;
    }
    Run out{{.wanted = true, .dtype = request.dtype, .missing = request.missing, .text = text},
            p.request,
            p.place};
    out.run.texts = texts_.size();
    out.run.row_bytes = row_bytes(request);
    out.run.again = again;
    runs_.push_back(out);
    if (text) texts_.push_back(p);
    just_read_ = p.column;
  }
  bool goes_on(const Run& last, const Place& p) const {
    return last.run.wanted && !last.run.text && !last.run.again && last.request == p.request &&
           last.place + last.run.count == p.place && just_read_ + last.run.count == p.column;
  }

  std::span<const ColumnRequest> requests_;
  std::size_t columns_;
  std::vector<Run> runs_;
  std::vector<Place> texts_;
  std::size_t just_read_ = 0;  ///< first column of the last run
  std::vector<Array> arrays_;
};

/// All texts of the readers, sorted, and for each reader the places of its own among them.
struct Merged {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> numbers;
};

Merged merged(const std::vector<CsvReader>& readers, std::size_t t) {
  std::vector<std::string_view> all;
  for (const auto& r : readers)
    all.insert(all.end(), r.texts()[t].texts().begin(), r.texts()[t].texts().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Merged out{{all.begin(), all.end()}, {}};
  for (const auto& r : readers) {
    auto& numbers = out.numbers.emplace_back();
    for (const auto text : r.texts()[t].texts())
      numbers.push_back(std::lower_bound(all.begin(), all.end(), text) - all.begin());
  }
  return out;
}

}  // namespace

std::optional<std::vector<ColumnValues>> CsvFile::try_read(std::span<const ColumnRequest> requests,
                                                           std::size_t limit) const {
  return while_unchanged(bytes_, [&] { return read_stretches(requests, limit); });
}

std::optional<std::vector<ColumnValues>> CsvFile::read_stretches(std::span<const ColumnRequest> requests,
                                                                 std::size_t limit) const {
  CsvRecords records(bytes_.text(), separator_, name_);
  if (header_) records.next();
  const char* end = bytes_.text().data() + bytes_.size();
  const std::string_view rest(records.at(), static_cast<std::size_t>(end - records.at()));
  const auto stretches = cut_records(rest, threads_ > 0 ? threads_ : csv_threads(rest.size()));
  Reading reading(requests, columns_.size());
  std::int64_t room = 0;
  for (const auto& s : stretches) room += s.records;
  reading.make_room(room);
  std::vector<CsvReader> readers;
  std::vector<std::int64_t> starts;
  for (std::int64_t first = 0; const auto& s : stretches) {
    readers.emplace_back(rest, separator_, name_, columns_.size(), reading.runs_from(first), reading.texts(),
                         limit);
    starts.push_back(first);
    first += s.records;
  }
  std::vector<char> right(stretches.size());
  run_beside(stretches.size(), [&](std::size_t i) { right[i] = readers[i].read(stretches[i]); });
  if (std::find(right.begin(), right.end(), 0) != right.end()) return std::nullopt;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    reading.move_rows(starts[i], rows, readers[i].rows());
    rows += readers[i].rows();
  }
  if (rows == 0) return std::nullopt;
  std::vector<std::vector<std::string>> names;
  for (std::size_t t = 0; t < reading.texts(); ++t) {
    Merged all = merged(readers, t);
    if (all.names.size() > limit) return std::nullopt;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < readers.size(); row += readers[i++].rows())
      reading.renumber(row, readers[i].rows(), t, all.numbers[i]);
    names.push_back(std::move(all.names));
  }
  return reading.take(rows, std::move(names));
}

std::vector<ColumnValues> CsvFile::read_columns(std::span<const ColumnRequest> requests) const {
  for (const auto& r : requests) {
    if (r.dtype != DType::f32 && r.dtype != DType::f64 && r.dtype != DType::i32 && r.dtype != DType::i64)
      throw Error(name_ + ": a CSV column is read as f32, f64, i32 or i64, not as " +
                  std::string(tightloop::name(r.dtype)));
    for (const std::size_t c : r.columns) require(c < columns_.size(), "CsvFile::read: column out of range");
  }
  auto out = try_read(requests, kMostTexts);
  if (!out) explain(requests);
  return std::move(*out);
}

std::vector<Array> CsvFile::read(std::span<const ColumnRequest> requests) const {
  std::vector<Array> out;
  for (auto& r : read_columns(requests)) out.push_back(std::move(r.values));
  return out;
}

namespace {

template <class T>
bool reads_as(std::string_view text, bool missing) {
  T ignored{};
  return parse_number(text, ignored) || (missing && is_missing(text));
}

bool reads_as(std::string_view text, const ColumnRequest& r) {
  switch (r.dtype) {
    case DType::f64:
      return reads_as<double>(text, r.missing);
    case DType::i32:
      return reads_as<std::int32_t>(text, false);
    case DType::i64:
      return reads_as<std::int64_t>(text, false);
    default:
      return reads_as<float>(text, r.missing);
  }
}

}  // namespace

void CsvFile::explain(std::span<const ColumnRequest> requests) const {
  std::map<std::size_t, std::set<std::string>> texts;  // by column
  for (const auto& r : requests)
    for (const std::size_t i : r.texts) texts[r.columns[i]];
  const std::int64_t rows = for_each_row([&](const CsvRow& row) {
    for (const auto& r : requests)
      for (std::size_t i = 0; i < r.columns.size(); ++i) {
        const CsvCell& cell = row.cells[r.columns[i]];
        const bool text = std::find(r.texts.begin(), r.texts.end(), i) != r.texts.end();
        if (!text && !reads_as(cell.text, r))
          throw Error(where(row, r.columns[i]) + not_a_number(cell.text, is_integer(r.dtype)));
      }
    for (auto& [column, found] : texts)
      if (found.insert(row.cells[column].value()).second && found.size() > kMostTexts)
        throw Error(where(row, column) + too_many_texts(kMostTexts));
  });
  if (rows == 0) no_rows();
  throw InternalError("internal error: CsvFile::read: nothing is wrong");
}

ColumnKind CsvFile::kind(std::size_t column) const {
  require(column < columns_.size(), "CsvFile::kind: column out of range");
  const auto reads = [&](DType dtype) {
    const ColumnRequest request{{column}, dtype};
    return try_read({&request, 1}, 0).has_value();
  };
  if (reads(DType::i64)) return ColumnKind::whole;
  if (reads(DType::f64)) return ColumnKind::number;
  return rows() == 0 ? ColumnKind::whole : ColumnKind::text;
}

std::int64_t CsvFile::rows() const {
  return for_each_row([](const CsvRow&) {});
}

}  // namespace tightloop::data
