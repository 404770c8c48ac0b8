// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>
#include <tightloop/train/load/stream.h>
#include <tightloop/train/read_batch.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

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

bool trained_on_table(const Job& job) {
  const std::string path = resolve(job, job.data.train);
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return path.ends_with(".csv") || path.ends_with(".csv.gz");
  return open_source(path, source_options(job)).table() != nullptr;
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

std::vector<std::string> names_of(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& f : fields) out.push_back(f.name);
  return out;
}

std::vector<std::string> training_files(const Job& job) {
  std::vector<std::string> out{resolve(job, job.data.train)};
  for (const auto& path : job.data.train_more) out.push_back(resolve(job, path));
  return out;
}

std::vector<Field> wanted_fields(const Request& request) {
  std::vector<Field> out = request.job.data.inputs;
  if (request.with_target) out.push_back(request.job.data.target[0]);
  return out;
}

namespace {

/// An array that stands for its folder is that of a field; another one would be left unread.
void check_named(const std::string& path, const std::vector<Field>& given, const Request& request) {
  const fs::path folder = fs::path(path).parent_path();
  const auto is_it = [&](const Field& f) {
    std::error_code ec;
    return f.from.size() == 1 && fs::equivalent(folder / f.from[0], path, ec);
  };
  const auto wanted = wanted_fields(request);
  if (std::any_of(wanted.begin(), wanted.end(), is_it) || std::any_of(given.begin(), given.end(), is_it))
    return;
  throw Error(
      fmt::format("{}: is one array, and none that data.inputs or data.target name; name the file of each "
                  "of {}",
                  path, fmt::join(names_of(wanted), ", ")));
}

SourceKind kind_of(const data::Source& source) {
  if (source.table() != nullptr) return SourceKind::table;
  if (source.pack() == nullptr) return SourceKind::arrays;
  return source.pack()->text ? SourceKind::text : SourceKind::named_arrays;
}

}  // namespace

data::Dataset read_part(const std::string& path, const std::vector<Field>& given, Request& request) {
  const data::SourceOptions options = source_options(request.job);
  const auto check = [&](SourceKind kind) {
    if (request.first) check_keys(request.job, kind);
  };
  if (path.empty() || fs::is_directory(path)) {
    const auto whole = path.empty() ? std::nullopt : open_folder(path, options);
    check(whole ? SourceKind::named_arrays : SourceKind::arrays);
    if (whole) return read_pack(*whole->pack(), path, request);
    return read_folder(path.empty() ? request.job.folder : path, given, request);
  }
  const data::Source source = open_source(path, options);
  check(kind_of(source));
  if (source.table() != nullptr) return read_table(*source.table(), request);
  if (source.pack() != nullptr) return read_pack(*source.pack(), path, request);
  check_named(path, given, request);
  return read_folder(fs::path(path).parent_path().string(), given, request);
}

std::vector<std::pair<std::string, TensorType>> LoadedData::model_inputs() const {
  DataSpec spec = DataSpec::of(data.train.data);
  spec.inputs.insert(spec.inputs.end(), spec.target.begin(), spec.target.end());
  std::erase_if(spec.inputs, [&](const DataSpec::Field& f) { return f.name == data.target; });
  spec.target.clear();
  spec.scales = data.scales;
  return input_types(walked(std::move(spec), data.train));
}

LoadedData load_data(const Job& job, nn::TargetKind target, Observer* observer) {
  check_names(job);
  if (auto streams = load_streams(job, target, observer)) return std::move(*streams);
  Request request{job, target};
  request.rules = job.data.columns;
  LoadedData out{
      {.train = {read_parts(training_files(job), request)}, .target = job.data.target[0].name}, {}, {}};
  const bool apart = !job.data.validation.file.empty() || !job.data.validation.files.empty();
  if (apart) encode_columns(out, request);  // all rows train
  add_validation(job, out, request);
  encode_columns(out, request);
  out.data.scales = fit_scales(job, out.data.train);
  out.classes = request.classes;
  add_views(job, out, [&](const std::string& name, bool text) {
    return extra_column(job, training_files(job), out.data.train.data, name, text);
  });
  out.notes = std::move(request.notes);
  return out;
}

DataPart load_other_part(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target) {
  if (auto streams = load_other_streams(job, target, sources, classes, with_target))
    return std::move(*streams);
  return other_part(job, sources, load_other(job, target, sources, classes, with_target), with_target);
}

data::Dataset load_other(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target) {
  Request request{job, target, with_target, classes, !classes.empty()};
  request.rules = job.data.columns;
  request.first = false;
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
  const bool array = !fs::is_directory(path) && open_source(path, source_options(job)).array() != nullptr;
  if (array) check_array_for(job, wanted, sources[0]);
  const bool single = array && wanted.size() == 1;
  if (single) return read_arrays({{wanted[0].name, path}}, request);
  return read_part(path, {}, request);
}

}  // namespace tightloop::train
