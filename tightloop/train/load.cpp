// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/train/load.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

/// What reading a part of the data needs to know.
struct Request {
  const Job& job;
  nn::TargetKind kind;
  bool with_target = true;
  std::vector<std::string> classes = {};  ///< vocabulary of a text target; filled by the training data
  bool fixed_classes = false;
};

std::vector<std::string> target_columns(const Job& job, const data::CsvFile& csv) {
  std::vector<std::string> out;
  for (const auto& pattern : job.data.target[0].from)
    for (const auto& column : csv.columns())
      if (column == pattern || data::matches(pattern, column)) out.push_back(column);
  return out;
}

Array flat(const Array& a) { return a.reshaped({a.count()}); }

data::Field csv_target(const data::CsvFile& csv, Request& request) {
  const Field& target = request.job.data.target[0];
  const auto columns = csv.select(target.from);
  const bool probabilities = request.kind == nn::TargetKind::classes_or_probabilities && columns.size() > 1 &&
                             !request.fixed_classes;
  if (request.kind == nn::TargetKind::values || probabilities) {
    const data::ColumnRequest wanted{columns, DType::f32};
    return {target.name, csv.read({&wanted, 1})[0]};
  }
  if (columns.size() != 1)
    throw Error(fmt::format("{}: this loss takes one column of classes as target, {} match", csv.name(),
                            columns.size()));
  if (csv.kind(columns[0]) == data::ColumnKind::text || request.fixed_classes) {
    auto found = csv.classes(columns[0], request.fixed_classes ? &request.classes : nullptr);
    request.classes = found.names;
    request.fixed_classes = true;
    return {target.name, found.codes};
  }
  const data::ColumnRequest wanted{columns, DType::i64};
  return {target.name, flat(csv.read({&wanted, 1})[0])};
}

data::Dataset read_table(const data::CsvFile& csv, Request& request) {
  const Job& job = request.job;
  const auto reserved = target_columns(job, csv);
  std::vector<data::ColumnRequest> wanted;
  for (const Field& f : job.data.inputs) wanted.push_back({csv.select(f.from, reserved), DType::f32});
  std::vector<Array> arrays = csv.read(wanted);
  std::vector<data::Field> fields;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    fields.push_back({job.data.inputs[i].name, std::move(arrays[i])});
  if (request.with_target) fields.push_back(csv_target(csv, request));
  return data::Dataset(std::move(fields));
}

Array read_array(const std::string& name, const std::string& path) {
  const data::Source source = open_source(path);
  if (const Array* a = source.array()) {
    if (a->rank() > kMaxRank)
      throw Error(fmt::format("{}: has {} dims; at most {} can be used", path, a->rank(), kMaxRank));
    return *a;
  }
  throw Error(fmt::format(
      "{}: '{}' is read from a file of its own here, which must be NPY or IDX; a CSV table is named in "
      "data.train and its columns in data.inputs and data.target",
      path, name));
}

/// One number a row is one column, [N, 1], as in a table; a list of ids stays [N].
Array input_array(const Array& a) {
  const bool ids = a.dtype() == DType::i32 || a.dtype() == DType::i64;
  return a.rank() == 1 && !ids ? a.reshaped({a.count(), 1}) : a;
}

/// Class numbers stored as floating numbers.
Array whole_numbers(const std::string& name, const Array& y) {
  Array out(DType::i64, {y.count()});
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double v = y.at(i);
    if (!(std::fabs(v) < 1e15) || v != std::floor(v))
      throw Error(
          fmt::format("the target '{}' is {}, but this loss takes class numbers: {} in row {} (rows "
                      "count from 1) is no whole number",
                      name, y.type_string(), std::isnan(v) ? "nan" : fmt::format("{}", v), i + 1));
    out.set_int(i, static_cast<std::int64_t>(v));
  }
  return out;
}

Array class_target(const std::string& name, const Array& y) {
  const bool column = y.rank() == 2 && y.dims()[1] == 1;
  if (is_floating(y.dtype()) && (y.rank() < 2 || column)) return whole_numbers(name, y);
  return column ? flat(y) : y;
}

data::Dataset read_arrays(const std::vector<std::pair<std::string, std::string>>& files,
                          const Request& request) {
  const std::string& target = request.job.data.target[0].name;
  std::vector<data::Field> fields;
  for (const auto& [name, path] : files) {
    const Array a = read_array(name, path);
    if (name != target)
      fields.push_back({name, input_array(a)});
    else
      fields.push_back({name, request.kind == nn::TargetKind::values ? a : class_target(name, a)});
  }
  return data::Dataset(std::move(fields));
}

std::string one_file(const Field& f) {
  if (f.from.size() != 1)
    throw Error(fmt::format(
        "'{}' names {} files; without a CSV table in data.train an input is read from one NPY or IDX file",
        f.name, f.from.size()));
  return f.from[0];
}

std::vector<Field> wanted_fields(const Request& request) {
  std::vector<Field> out = request.job.data.inputs;
  if (request.with_target) out.push_back(request.job.data.target[0]);
  return out;
}

/// Inputs and target as files that lie in `folder`, some of them named by `given`.
data::Dataset read_folder(const std::string& folder, const std::vector<Field>& given,
                          const Request& request) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Field& f : wanted_fields(request)) {
    const auto own =
        std::find_if(given.begin(), given.end(), [&](const Field& g) { return g.name == f.name; });
    files.emplace_back(f.name, (fs::path(folder) / one_file(own == given.end() ? f : *own)).string());
  }
  return read_arrays(files, request);
}

/// `path`: a CSV table, or the folder (or a file in it) that holds the fields' files.
data::Dataset read_part(const std::string& path, const std::vector<Field>& given, Request& request) {
  if (path.empty() || fs::is_directory(path))
    return read_folder(path.empty() ? request.job.folder : path, given, request);
  const data::Source source = open_source(path);
  if (source.table() != nullptr) return read_table(*source.table(), request);
  return read_folder(fs::path(path).parent_path().string(), given, request);
}

std::vector<std::string> names_of(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& f : fields) out.push_back(f.name);
  return out;
}

void check_names(const Job& job) {
  std::vector<std::string> names = names_of(job.data.inputs);
  if (std::find(names.begin(), names.end(), job.data.target[0].name) != names.end())
    throw Error(fmt::format("{}: data.target has the name of an input, '{}'; give it another", job.source,
                            job.data.target[0].name));
  names.push_back(job.data.target[0].name);
  for (const Field& f : job.data.validation.files)
    if (std::find(names.begin(), names.end(), f.name) == names.end())
      throw Error(fmt::format("{}: data.validation.{} is no input and not the target{}", job.source, f.name,
                              suggestion(f.name, names)));
}

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

std::string method_for(const Job& job, const std::string& input) {
  for (const Normalize& n : job.data.normalize)
    if (n.input.empty() || n.input == input) return n.method;
  return "none";
}

struct Statistics {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  void add(double v, double times) {
    low = std::min(low, v), high = std::max(high, v);
    sum += times * v, squares += times * v * v;
  }
};

/// Calls `visit(first, last)` with the bounds of each row's elements.
template <class Visit>
void each_row(const Array& values, std::span<const std::int64_t> rows, Visit visit) {
  const std::int64_t n = rows.empty() ? values.dims()[0] : static_cast<std::int64_t>(rows.size());
  const std::int64_t features = values.count() / values.dims()[0];
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t start = (rows.empty() ? r : rows[static_cast<std::size_t>(r)]) * features;
    visit(start, start + features);
  }
}

Statistics statistics(const Array& values, std::span<const std::int64_t> rows) {
  Statistics out;
  if (values.dtype() != DType::u8) {
    each_row(values, rows, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) out.add(values.at(i), 1);
    });
    return out;
  }
  const std::uint8_t* bytes = values.as<std::uint8_t>().data();
  std::array<std::int64_t, 256> times{};
  each_row(values, rows, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) ++times[bytes[i]];
  });
  for (std::size_t v = 0; v < times.size(); ++v)
    if (times[v] > 0) out.add(static_cast<double>(v), static_cast<double>(times[v]));
  return out;
}

/// Images and the like share one shift and one scale, so that a pixel that hardly ever lights up is not blown
/// up.
data::FieldScale pooled(const data::Field& field, data::Normalization how,
                        std::span<const std::int64_t> rows) {
  const Statistics s = statistics(field.values, rows);
  const std::int64_t n = rows.empty() ? field.values.dims()[0] : static_cast<std::int64_t>(rows.size());
  const std::int64_t features = field.values.count() / field.values.dims()[0];
  const double count = static_cast<double>(n * features), mean = s.sum / count;
  const bool minmax = how == data::Normalization::minmax;
  const double spread = minmax ? s.high - s.low : std::sqrt(std::max(0.0, s.squares / count - mean * mean));
  if (!std::isfinite(spread))
    throw Error(fmt::format("'{}' holds NaN or infinity and cannot be normalized", field.name));
  std::vector<std::int64_t> dims(field.values.dims().begin() + 1, field.values.dims().end());
  data::FieldScale out{field.name, Array(DType::f32, dims), Array(DType::f32, dims)};
  for (std::int64_t i = 0; i < features; ++i)
    out.shift.set(i, minmax ? s.low : mean), out.scale.set(i, spread > 0 ? spread : 1);
  return out;
}

std::vector<data::FieldScale> fit_scales(const Job& job, const DataPart& part) {
  const auto inputs = names_of(job.data.inputs);
  for (const Normalize& n : job.data.normalize)
    if (!n.input.empty() && std::find(inputs.begin(), inputs.end(), n.input) == inputs.end())
      throw Error(fmt::format("{} names {}; inputs are {}", n.where,
                              n.input == job.data.target[0].name ? "the target, which is never normalized"
                                                                 : "no input" + suggestion(n.input, inputs),
                              fmt::join(inputs, ", ")));
  std::vector<data::FieldScale> out;
  for (const Field& f : job.data.inputs) {
    const auto how = data::normalization_from_name(method_for(job, f.name));
    const Array& values = part.data[f.name];
    if (how == data::Normalization::none || !data::is_normalized(values.dtype())) continue;
    const data::Field field{f.name, values};
    out.push_back(values.rank() < 3 ? data::field_scale(field, how, part.rows)
                                    : pooled(field, how, part.rows));
  }
  return out;
}

void add_validation(const Job& job, LoadedData& out, Request& request) {
  const Validation& v = job.data.validation;
  out.split.rows = out.data.train.data.rows();
  if (v.none()) return;
  if (v.fraction > 0) {
    auto split = data::split_rows(out.split.rows, v.fraction);
    out.data.train.rows = std::move(split.train);
    out.data.validation = DataPart{out.data.train.data, split.validation};
    out.split = {"fraction", v.fraction, out.split.rows, std::move(split.validation)};
    return;
  }
  const std::string train = resolve(job, job.data.train);
  const bool table = !train.empty() && !fs::is_directory(train) && open_source(train).table() != nullptr;
  if (table && !v.files.empty())
    throw Error(job.source +
                ": data.validation is a table of files, but data.train is a CSV table; name a CSV file");
  const std::string path = v.files.empty() ? resolve(job, v.file) : table ? "" : train;
  out.data.validation = DataPart{read_part(path, v.files, request)};
  out.split.kind = "file";
  check_same_types(out.data.train.data, out.data.validation->data, "data.validation");
}

bool trained_on_table(const Job& job) {
  const std::string path = resolve(job, job.data.train);
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return path.ends_with(".csv") || path.ends_with(".csv.gz");
  return open_source(path).table() != nullptr;
}

/// One array stands for one column or field of its width, not for the columns of several.
void check_array_for(const Job& job, const std::vector<Field>& wanted, const std::string& path) {
  if (wanted.size() == 1 || !trained_on_table(job)) return;
  std::vector<std::string> columns;
  for (const Field& f : wanted) columns.insert(columns.end(), f.from.begin(), f.from.end());
  throw Error(
      fmt::format("{}: is one array; the model wants a table (CSV) with the columns {}, or name=file "
                  "for each of {}",
                  path, fmt::join(columns, ", "), fmt::join(names_of(wanted), ", ")));
}

}  // namespace

std::vector<std::pair<std::string, TensorType>> LoadedData::model_inputs() const {
  std::vector<std::pair<std::string, TensorType>> out;
  for (const auto& f : data.train.data.fields()) {
    if (f.name == data.target) continue;
    std::vector<Dim> dims(f.values.dims().begin(), f.values.dims().end());
    dims[0] = Dim::batch();
    const bool ids = f.values.dtype() == DType::i32 || f.values.dtype() == DType::i64;
    out.emplace_back(f.name, TensorType{ids ? DType::i64 : DType::f32, Shape(std::move(dims))});
  }
  return out;
}

LoadedData load_data(const Job& job, nn::TargetKind target) {
  check_names(job);
  Request request{job, target};
  LoadedData out{
      {.train = {read_part(resolve(job, job.data.train), {}, request)}, .target = job.data.target[0].name},
      {},
      {}};
  add_validation(job, out, request);
  out.data.scales = fit_scales(job, out.data.train);
  out.classes = request.classes;
  return out;
}

data::Dataset load_other(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target) {
  Request request{job, target, with_target, classes, !classes.empty()};
  std::vector<Field> given;
  for (const auto& s : sources) {
    const auto equals = s.find('=');
    if (equals != std::string::npos && !fs::exists(s))
      given.push_back({s.substr(0, equals), {fs::absolute(s.substr(equals + 1)).string()}});
  }
  if (!given.empty() && given.size() != sources.size())
    throw Error("give either one file or folder, or name=file for each field");
  if (given.empty() && sources.size() != 1)
    throw Error("give one file or folder, or name=file for each field");
  const auto wanted = wanted_fields(request);
  const auto known = names_of(wanted);
  for (const Field& g : given)
    if (std::find(known.begin(), known.end(), g.name) == known.end())
      throw Error(fmt::format("{} is no field of the model{}; there are {}", g.name,
                              suggestion(g.name, known), fmt::join(known, ", ")));
  for (const Field& f : wanted)
    if (!given.empty() && std::find_if(given.begin(), given.end(),
                                       [&](const Field& g) { return g.name == f.name; }) == given.end())
      throw Error(fmt::format("the field '{}' has no file: write {}=FILE", f.name, f.name));
  if (!given.empty()) return read_folder("", given, request);
  const std::string path = fs::absolute(sources[0]).string();
  const bool array = !fs::is_directory(path) && open_source(path).table() == nullptr;
  if (array) check_array_for(job, wanted, sources[0]);
  const bool single = array && wanted.size() == 1;
  if (single) return read_arrays({{wanted[0].name, path}}, request);
  return read_part(path, {}, request);
}

}  // namespace tightloop::train
