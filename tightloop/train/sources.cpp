// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/cifar.h>
#include <tightloop/io/idx.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npz.h>
#include <tightloop/train/sources.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

namespace tightloop::train {
namespace {

template <Array (*parse)(const Bytes&, const std::string&)>
data::SourceContent array_source(const Bytes& bytes, const std::string& name, const data::SourceOptions&) {
  return parse(bytes, name);
}

template <bool (*is)(std::span<const std::byte>)>
bool begins(const Bytes& bytes, std::string_view) {
  return is(bytes.span());
}

data::SourceContent npz_source(const Bytes& bytes, const std::string& name, const data::SourceOptions&) {
  const io::NpzFile file = io::NpzFile::parse(bytes, name);
  return data::ArrayPack{file.names(), [file](const std::string& array) { return file.read(array); }};
}

bool is_npz(const Bytes& bytes, std::string_view) { return io::is_npz(bytes); }

using Files = std::vector<std::pair<std::string, Bytes>>;

data::ArrayPack cifar_pack(Files files, const std::string& folder, io::Cifar kind) {
  data::ArrayPack out{{"images", "labels"}, {}, io::cifar_classes(folder, kind), "labels"};
  if (kind == io::Cifar::hundred) out.names.emplace_back("coarse_labels");
  const auto all = std::make_shared<std::optional<io::CifarData>>();
  out.read = [=, files = std::move(files)](const std::string& name) {
    if (!*all) *all = io::parse_cifar(files, kind);
    return name == "images" ? (*all)->images : name == "labels" ? (*all)->labels : (*all)->coarse_labels;
  };
  return out;
}

template <io::Cifar kind>
data::SourceContent cifar_source(const Bytes& bytes, const std::string& name, const data::SourceOptions&) {
  return cifar_pack({{name, bytes}}, std::filesystem::path(name).parent_path().string(), kind);
}

template <io::Cifar kind>
bool is_cifar(const Bytes& bytes, std::string_view name) {
  return io::is_cifar(bytes, name, kind);
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
      data::SourceFormat{"npy", "NPY", ".npy", begins<io::is_npy>, array_source<io::parse_npy>},
      data::SourceFormat{"npz", "NPZ", ".npz", is_npz, npz_source},
      data::SourceFormat{"idx", "IDX", ".idx -ubyte", begins<io::is_idx>, array_source<io::parse_idx>},
      data::SourceFormat{"cifar10", "CIFAR-10", "_batch.bin", is_cifar<io::Cifar::ten>,
                         cifar_source<io::Cifar::ten>},
      data::SourceFormat{"cifar100", "CIFAR-100", "train.bin test.bin", is_cifar<io::Cifar::hundred>,
                         cifar_source<io::Cifar::hundred>},
      data::csv_format(),
      data::text_format(),
  };
  return formats;
}

data::SourceOptions source_options(const Job& job) {
  data::SourceOptions out{.format = job.data.format, .vocabulary = resolve(job, job.data.vocabulary)};
  out.csv.separator = job.data.separator.empty() ? '\0' : job.data.separator[0];
  out.csv.header = job.data.header;
  return out;
}

data::Source open_source(const std::string& path, const data::SourceOptions& options) {
  return data::open_source(path, source_formats(), options);
}

std::optional<data::Source> open_folder(const std::string& folder, const data::SourceOptions& options) {
  for (const io::Cifar kind : {io::Cifar::ten, io::Cifar::hundred}) {
    const std::string number = std::to_string(static_cast<int>(kind));
    if (!options.format.empty() && options.format != "cifar" + number) continue;
    Files files;
    for (const auto& path : io::cifar_training_files(folder, kind)) files.emplace_back(path, read_file(path));
    if (!files.empty()) return data::Source{"CIFAR-" + number, cifar_pack(std::move(files), folder, kind)};
  }
  return std::nullopt;
}

Job with_columns(Job job) {
  const std::string path = resolve(job, job.data.train);
  const auto has_pattern = [](const Field& f) {
    return std::any_of(f.from.begin(), f.from.end(),
                       [](const std::string& s) { return s.find_first_of("*?") != std::string::npos; });
  };
  const bool patterns = std::any_of(job.data.inputs.begin(), job.data.inputs.end(), has_pattern) ||
                        has_pattern(job.data.target[0]);
  if (!patterns || path.empty() || std::filesystem::is_directory(path)) return job;
  const data::Source source = open_source(path, source_options(job));
  if (source.table() == nullptr) return job;
  Field& target = job.data.target[0];
  target.from = columns(*source.table(), target.from, {});
  for (Field& f : job.data.inputs) f.from = columns(*source.table(), f.from, target.from);
  return job;
}

}  // namespace tightloop::train
