// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/csv.h>

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tightloop::data {

/// A file of training data: a table with named columns, or one array.
struct Source {
  std::string format;  ///< name of the format it was read as
  std::variant<CsvFile, Array> content;

  /// Null unless it is that kind.
  const CsvFile* table() const { return std::get_if<CsvFile>(&content); }
  const Array* array() const { return std::get_if<Array>(&content); }
};

/// A format that open_source() knows: one line of an index.
struct SourceFormat {
  std::string_view name;
  std::string_view suffixes;  ///< ".csv .tsv"
  /// Whether content begins as this format does; null for plain text, which is told by the suffix or by
  /// holding no NUL.
  bool (*begins)(std::span<const std::byte> bytes);
  std::variant<CsvFile, Array> (*read)(const Bytes& bytes, const std::string& name);
};

/// Reads the file at `path` (gzip or not) as the format that its content shows, whatever its name.
/// Throws Error when it is empty, looks like HTML (a failed download), is of a kind known not to be data for
/// training, or of none of `formats`, and what the format's reader throws.
Source open_source(const std::string& path, std::span<const SourceFormat> formats);
Source open_source(const Bytes& content, const std::string& name, std::span<const SourceFormat> formats);

/// CSV as a format, for the index.
SourceFormat csv_format();

}  // namespace tightloop::data
