// SPDX-License-Identifier: Apache-2.0
#pragma once
// What loading a job's data is made of: one file each.
#include <tightloop/data/csv.h>
#include <tightloop/data/source.h>
#include <tightloop/train/load.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// The columns of an input as they were read, [N, columns]: of a category the number of its text, NaN for a
/// missing number.
struct InputColumns {
  std::string field;
  std::vector<data::ColumnRule> rules;  ///< one a column, with its name and type
  std::vector<std::vector<std::string>>
      texts;  ///< one a column: what the numbers stand for; none of a number
};

/// Where rows come from: those from row `first` on are the rows of `file`, up to the next one's.
struct RowsOf {
  std::string file;
  std::int64_t first = 0;
};

/// What reading a part of the data needs to know.
struct Request {
  const Job& job;
  nn::TargetKind kind;
  bool with_target = true;
  std::vector<std::string> classes = {};  ///< vocabulary of a text target; filled by the training data
  bool fixed_classes = false;
  std::vector<data::ColumnRule> rules = {};  ///< of the columns of tables
  /// The training data come first and decide what other data must follow: the kinds of columns, the values of
  /// categories, what stands for missing numbers.
  bool first = true;
  std::vector<InputColumns> raw = {};   ///< of the inputs that encode_columns() has to finish
  std::vector<RowsOf> files = {};       ///< of the training rows
  std::vector<std::string> notes = {};  ///< what the user should know
};

/// What training data can be.
enum class SourceKind : std::uint8_t { table, arrays, named_arrays, text, images, shards, npy_rows };
/// Throws Error naming the first key of [data] that is set, and that data of this kind do not look at.
void check_keys(const Job& job, SourceKind kind);

std::vector<std::string> names_of(const std::vector<Field>& fields);
/// The fields that a part of the data must have.
std::vector<Field> wanted_fields(const Request& request);

/// Whether a column that is a target of classes holds their names, by its rule or by what is in it.
bool holds_names(const data::CsvFile& csv, std::size_t column, const data::ColumnRule& rule);
/// Inputs and target as columns of a table.
data::Dataset read_table(const data::CsvFile& csv, Request& request);
/// Inputs and target as arrays of one file or folder, `name` in messages.
data::Dataset read_pack(const data::ArrayPack& pack, const std::string& name, Request& request);
/// Each field from a file of its own: name, path.
data::Dataset read_arrays(const std::vector<std::pair<std::string, std::string>>& files,
                          const Request& request);
/// Inputs and target as files that lie in `folder`, some of them named by `given`.
data::Dataset read_folder(const std::string& folder, const std::vector<Field>& given, const Request& request);
/// `path`: a CSV table, or the folder (or a file in it) that holds the fields' files.
data::Dataset read_part(const std::string& path, const std::vector<Field>& given, Request& request);

/// The rows of `files`, one file behind the other. Throws Error naming the file whose fields are not as those
/// of the first.
data::Dataset read_parts(const std::vector<std::string>& files, Request& request);

/// Reads the inputs of a table; what is no number yet is left to encode_columns(), which knows the training
/// rows.
std::vector<data::Field> read_inputs(const data::CsvFile& csv, Request& request,
                                     const std::vector<std::string>& reserved);
/// Decides by the training rows what `request` left open, and turns the inputs of the data into what the
/// model gets. Nothing is left to do after the first call.
void encode_columns(LoadedData& data, Request& request);
/// The array that a model gets from the raw values; `rules` must be decided. Throws Error naming the file
/// among `files`, row, column and value when a value is unknown or missing and no category takes it.
Array encoded(const InputColumns& columns, const Array& raw, const std::vector<RowsOf>& files);
/// Adds a note for each of `columns` whose whole numbers `values`, f32 [rows, columns], do not hold.
void note_rounded(const data::CsvFile& csv, const std::vector<std::size_t>& columns, const Array& values,
                  Request& request);

/// One value a row beside inputs and target: the field, the table's column, the array of a file of several,
/// or the file of an array called `name`; numbers, or with `text` the codes of a column of texts. `files` are
/// what the rows were read from, in order.
Array extra_column(const Job& job, const std::vector<std::string>& files, const data::Dataset& data,
                   const std::string& name, bool text);
/// The same where there are no fields to look at first.
Array extra_column(const Job& job, const std::vector<std::string>& files, const std::string& name, bool text);
/// First rows of the job's windows in `data`, which was read from `files`.
std::vector<std::int64_t> window_firsts(const Job& job, const std::vector<std::string>& files,
                                        const data::Dataset& data, bool with_target);
/// What data.train names, with its paths.
std::vector<std::string> training_files(const Job& job);

/// A column of the rows that train, by name: numbers, or with `text` numbers that tell its values apart.
using ColumnOf = std::function<Array(const std::string& name, bool text)>;
/// Sampler and transforms, when the rows are known.
void add_views(const Job& job, LoadedData& out, const ColumnOf& column);

/// The rows of `rows` that the job's fraction or fold holds back. Throws Error with the place of data.split.
std::pair<data::Split, SplitRecord> hold_back(const Job& job, std::int64_t rows, const ColumnOf& column);

/// Holds back or reads the validation rows, and records how.
void add_validation(const Job& job, LoadedData& out, Request& request);
/// The statistics by which the job's inputs are normalised, of the training rows.
std::vector<data::FieldScale> fit_scales(const Job& job, const DataPart& part);

}  // namespace tightloop::train
