// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/csv.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tightloop::data {

/// Arrays by name, in one file or folder, each read when it is asked for.
struct ArrayPack {
  std::vector<std::string> names;
  std::function<Array(const std::string& name)> read;  ///< `name` is one of `names`
  /// Names of the classes whose numbers the array `labels` holds, where the format has them.
  std::vector<std::string> classes = {};
  std::string labels = {};
  bool text = false;  ///< the arrays are series of ids

  /// Throws Error naming `source`, with the nearest name, when there is none of that name.
  Array array(const std::string& name, const std::string& source) const;
};

using SourceContent = std::variant<CsvFile, Array, ArrayPack>;

/// A file of training data: a table with named columns, one array, or named arrays.
struct Source {
  std::string format;  ///< name of the format it was read as
  SourceContent content;

  /// Null unless it is that kind.
  const CsvFile* table() const { return std::get_if<CsvFile>(&content); }
  const Array* array() const { return std::get_if<Array>(&content); }
  const ArrayPack* pack() const { return std::get_if<ArrayPack>(&content); }
};

/// How files are read where their content does not say it.
struct SourceOptions {
  std::string format = {};  ///< key of a format; "": told by the content
  CsvOptions csv = {};
  std::string vocabulary = {};  ///< file of the tokens of texts; "": bytes
};

/// A format that open_source() knows: one line of an index.
struct SourceFormat {
  std::string_view key;       ///< as jobs name it: "csv"
  std::string_view name;      ///< as messages name it: "CSV"
  std::string_view suffixes;  ///< ".csv .tsv"
  /// Whether it is this format, by content or (where that shows nothing) by size and name; null for plain
  /// text, which is told by the suffix or by holding no NUL.
  bool (*fits)(const Bytes& bytes, std::string_view name);
  SourceContent (*read)(const Bytes& bytes, const std::string& name, const SourceOptions& options);
  bool asked_only = false;  ///< taken only where `options.format` names it
};

/// Reads the file at `path` (gzip or not) as the format that its content shows, whatever its name.
/// Throws Error when it is empty, looks like HTML (a failed download), is of a kind known not to be data for
/// training, or of none of `formats`, and what the format's reader throws.
Source open_source(const std::string& path, std::span<const SourceFormat> formats,
                   const SourceOptions& options = {});
Source open_source(const Bytes& content, const std::string& name, std::span<const SourceFormat> formats,
                   const SourceOptions& options = {});

/// CSV as a format, for the index.
SourceFormat csv_format();
/// Plain text as one series named "text", of bytes or of the ids of a vocabulary (data/vocabulary.h).
SourceFormat text_format();

}  // namespace tightloop::data
