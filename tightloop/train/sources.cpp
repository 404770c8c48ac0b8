// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/idx.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/sources.h>

#include <array>

namespace tightloop::train {
namespace {

template <Array (*parse)(const Bytes&, const std::string&)>
std::variant<data::CsvFile, Array> array_source(const Bytes& bytes, const std::string& name) {
  return parse(bytes, name);
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

}  // namespace tightloop::train
