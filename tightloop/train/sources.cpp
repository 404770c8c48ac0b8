// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/idx.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/sources.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tightloop::train {
namespace {

template <Array (*parse)(const Bytes&, const std::string&)>
std::variant<data::CsvFile, Array> array_source(const Bytes& bytes, const std::string& name) {
  return parse(bytes, name);
}

std::vector<std::string> columns(const data::CsvFile& csv, const std::vector<std::string>& from,
                                 const std::vector<std::string>& reserved) {
  std::vector<std::string> out;
  for (const std::size_t c : csv.select(from, reserved)) out.push_back(csv.columns()[c]);
  return out;
}

}  // namespace

std::span<const data::SourceFormat> source_formats() {
  static const std::array formats{
      data::SourceFormat{"NPY", ".npy", io::is_npy, array_source<io::parse_npy>},
      data::SourceFormat{"IDX", ".idx -ubyte", io::is_idx, array_source<io::parse_idx>},
      data::csv_format(),
  };
  return formats;
}

data::Source open_source(const std::string& path) { return data::open_source(path, source_formats()); }

Job with_columns(Job job) {
  const std::string path = resolve(job, job.data.train);
  const auto has_pattern = [](const Field& f) {
    return std::any_of(f.from.begin(), f.from.end(),
                       [](const std::string& s) { return s.find_first_of("*?") != std::string::npos; });
  };
  const bool patterns = std::any_of(job.data.inputs.begin(), job.data.inputs.end(), has_pattern) ||
                        has_pattern(job.data.target[0]);
  if (!patterns || path.empty() || std::filesystem::is_directory(path)) return job;
  const data::Source source = open_source(path);
  if (source.table() == nullptr) return job;
  Field& target = job.data.target[0];
  target.from = columns(*source.table(), target.from, {});
  for (Field& f : job.data.inputs) f.from = columns(*source.table(), f.from, target.from);
  return job;
}

}  // namespace tightloop::train
