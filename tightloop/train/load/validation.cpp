// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/split.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

void check_same_types(const data::Dataset& train, const data::Dataset& other, const std::string& what) {
  for (const auto& f : train.fields()) {
    const Array* o = other.find(f.name);
    if (o == nullptr) continue;
    auto a = f.values.dims(), b = o->dims();
    if (a.size() == b.size()) a[0] = b[0] = 0;
    if (a != b || f.values.dtype() != o->dtype())
      throw Error(fmt::format("{}: '{}' is {}, in the training data it is {}", what, f.name, o->type_string(),
                              f.values.type_string()));
  }
}

struct Chosen {
  data::SplitMethod method;
  std::string column;
  std::uint64_t seed;
};

Chosen chosen(const Job& job) {
  const SplitChoice given = job.data.split.value_or(SplitChoice());
  const bool windows = job.data.window.has_value();
  Chosen out{windows ? data::SplitMethod::time : data::SplitMethod::random, given.column,
             given.seed == 0 ? data::kSplitSeed : static_cast<std::uint64_t>(given.seed)};
  if (!given.method.empty()) out.method = data::split_method_from_name(given.method);
  if (out.column.empty() && out.method == data::SplitMethod::stratified) out.column = job.data.target[0].name;
  if (out.column.empty() && out.method == data::SplitMethod::group) out.column = job.data.window->group;
  return out;
}

SplitRecord record_of(const Job& job, const Chosen& how, std::int64_t rows,
                      std::vector<std::int64_t> validation) {
  const FoldChoice& fold = job.data.fold;
  SplitRecord out{fold.k > 0 ? "fold" : "fraction", job.data.validation.fraction, rows,
                  std::move(validation)};
  out.method = data::kSplitMethods[static_cast<std::size_t>(how.method)].second;
  out.column = how.column;
  out.seed = job.data.split ? job.data.split->seed : 0;
  out.folds = fold.k, out.fold = fold.index;
  return out;
}

/// What `split` gives, with the place of data.split in what it throws.
template <class Make>
data::Split placed_split(const Job& job, Make split) {
  try {
    return split();
  } catch (const Error& e) {
    throw Error(job.data.split ? fmt::format("{}: {}", job.data.split->where, e.what())
                               : std::string(e.what()));
  }
}

data::Split held_back(const Job& job, data::SplitMethod method, std::int64_t rows, std::uint64_t seed,
                      std::span<const std::int64_t> keys) {
  const FoldChoice& fold = job.data.fold;
  if (fold.k > 0) return data::fold_by(method, rows, fold.k, fold.index, keys, seed);
  return data::split_by(method, rows, job.data.validation.fraction, keys, seed);
}

/// Whether a group of a series is long enough to be cut in time.
bool can_be_cut(const Job& job, std::size_t rows) {
  if (job.data.fold.k > 0) return static_cast<std::int64_t>(rows) > job.data.fold.k;
  const auto held = std::llround(static_cast<double>(rows) * job.data.validation.fraction);
  return held > 0 && held < static_cast<std::int64_t>(rows);
}

/// Each group of a series is cut by itself: its last rows validate. One too short for that trains.
data::Split held_back_of_groups(const Job& job, const std::vector<std::int64_t>& groups) {
  data::Split out;
  for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
    while (end < groups.size() && groups[end] == groups[begin]) ++end;
    if (!can_be_cut(job, end - begin)) {
      for (std::size_t r = begin; r < end; ++r) out.train.push_back(static_cast<std::int64_t>(r));
      continue;
    }
    const auto part = held_back(job, data::SplitMethod::time, static_cast<std::int64_t>(end - begin), 0, {});
    for (const auto r : part.train) out.train.push_back(static_cast<std::int64_t>(begin) + r);
    for (const auto r : part.validation) out.validation.push_back(static_cast<std::int64_t>(begin) + r);
  }
  return out;
}

/// A series is in the order of its rows, so a column of times must rise in it.
void check_rising(const std::vector<std::int64_t>& times, const std::vector<std::int64_t>& groups,
                  const std::string& column) {
  for (std::size_t r = 1; r < times.size(); ++r)
    if (times[r] < times[r - 1] && (groups.empty() || groups[r] == groups[r - 1]))
      throw Error(
          fmt::format("row {} is earlier in '{}' than the row before; the rows of a series with windows must "
                      "be in the order of time",
                      r + 1, column));
}

data::Split split_of(const Job& job, const data::Dataset& rows, const Chosen& how) {
  const auto files = training_files(job);
  std::vector<std::int64_t> keys, groups;
  if (!how.column.empty()) keys = data::codes_of(extra_column(job, files, rows, how.column, true));
  if (job.data.window && how.method == data::SplitMethod::time) {
    const std::string& group = job.data.window->group;
    if (!group.empty()) groups = data::codes_of(extra_column(job, files, rows, group, true));
    check_rising(keys, groups, how.column);
    if (!groups.empty()) return held_back_of_groups(job, groups);
  }
  return held_back(job, how.method, rows.rows(), how.seed, keys);
}

/// Rows become the first rows of windows.
void take_windows(const Job& job, const std::vector<std::string>& files, DataPart& part) {
  part.window = job.data.window->window;
  part.rows = window_firsts(job, files, part.data, true);
}

void hold_back(const Job& job, LoadedData& out) {
  const Chosen how = chosen(job);
  DataPart& train = out.data.train;
  data::Split split = placed_split(job, [&] {
    data::Split rows = split_of(job, train.data, how);
    if (!train.window) return rows;
    auto windows =
        data::split_windows(train.rows, *train.window, train.data.rows(), rows.train, rows.validation);
    return data::Split{std::move(windows.train), std::move(windows.validation)};
  });
  train.rows = std::move(split.train);
  out.data.validation = DataPart{train.data, split.validation, train.window};
  out.split = record_of(job, how, out.split.rows, std::move(split.validation));
}

}  // namespace

std::pair<data::Split, SplitRecord> hold_back(const Job& job, std::int64_t rows, const ColumnOf& column) {
  const Chosen how = chosen(job);
  data::Split split = placed_split(job, [&] {
    std::vector<std::int64_t> keys;
    if (!how.column.empty()) keys = data::codes_of(column(how.column, true));
    return held_back(job, how.method, rows, how.seed, keys);
  });
  SplitRecord record = record_of(job, how, rows, split.validation);
  return {std::move(split), std::move(record)};
}

void add_validation(const Job& job, LoadedData& out, Request& request) {
  const Validation& v = job.data.validation;
  const std::string train = resolve(job, job.data.train);
  out.split.rows = out.data.train.data.rows();
  if (job.data.window) take_windows(job, training_files(job), out.data.train);
  if (v.fraction > 0 || job.data.fold.k > 0) return hold_back(job, out);
  if (v.none()) return;
  const bool table = !train.empty() && !fs::is_directory(train) &&
                     open_source(train, source_options(job)).table() != nullptr;
  if (table && !v.files.empty())
    throw Error(job.source +
                ": data.validation is a table of files, but data.train is a CSV table; name a CSV file");
  const std::string path = v.files.empty() ? resolve(job, v.file) : table ? "" : train;
  out.data.validation = DataPart{read_part(path, v.files, request)};
  out.split.kind = "file";
  check_same_types(out.data.train.data, out.data.validation->data, "data.validation");
  if (job.data.window) take_windows(job, {path}, *out.data.validation);
}

}  // namespace tightloop::train
