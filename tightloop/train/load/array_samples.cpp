// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/io/npy_rows.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <variant>

namespace tightloop::train {
namespace {

constexpr std::uintmax_t kSmall = std::uintmax_t{1} << 26;  ///< bytes of a file that is kept in memory

using Column = std::variant<Array, io::NpyRows>;

std::int64_t rows_of(const Column& c) {
  const Array* a = std::get_if<Array>(&c);
  return a != nullptr ? a->dims()[0] : std::get<io::NpyRows>(c).rows();
}

/// As read_arrays() has it: one number a row is one column, a list of ids stays as it is.
data::SampleField field_of(const std::string& name, const Column& c, bool input) {
  if (const Array* a = std::get_if<Array>(&c))
    return {name, a->dtype(), {a->dims().begin() + 1, a->dims().end()}};
  const auto& rows = std::get<io::NpyRows>(c);
  const bool ids = rows.dtype() == DType::i32 || rows.dtype() == DType::i64;
  return {name, rows.dtype(),
          rows.dims().empty() && input && !ids ? std::vector<std::int64_t>{1} : rows.dims()};
}

class ArraySamples final : public data::Samples {
 public:
  ArraySamples(std::vector<Column> columns, std::vector<data::SampleField> fields)
      : columns_(std::move(columns)), fields_(std::move(fields)), rows_(rows_of(columns_[0])) {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (rows_of(columns_[c]) != rows_)
        throw Error(fmt::format("data: field '{}' has {} rows, field '{}' has {}", fields_[c].name,
                                rows_of(columns_[c]), fields_[0].name, rows_));
    for (const Column& c : columns_)
      if (const Array* a = std::get_if<Array>(&c)) files_.add(a->bytes());
  }

  std::int64_t size() const override { return rows_; }
  const std::vector<data::SampleField>& fields() const override { return fields_; }
  std::string name(std::int64_t i) const override { return fmt::format("row {}", i + 1); }
  void get(std::int64_t i, const data::SampleKey&, std::span<std::byte* const> out) const override {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (const Array* a = std::get_if<Array>(&columns_[c]))
        std::memcpy(out[c], a->bytes() + static_cast<std::size_t>(i) * fields_[c].bytes(),
                    fields_[c].bytes());
      else
        std::get<io::NpyRows>(columns_[c]).read(i, out[c]);
    }
    const std::lock_guard guard(lock_);
    files_.check();
  }

 private:
  std::vector<Column> columns_;
  std::vector<data::SampleField> fields_;
  std::int64_t rows_;
  mutable std::mutex lock_;
  mutable MappedFiles files_;
};

}  // namespace

std::shared_ptr<const data::Samples> array_samples(
    const std::vector<std::pair<std::string, std::string>>& files, const StreamRequest& request) {
  const Request whole{request.job, request.kind, request.with_target};
  const std::string& target = request.job.data.target[0].name;
  std::vector<Column> columns;
  std::vector<data::SampleField> fields;
  for (const auto& [name, path] : files) {
    std::error_code ec;
    const bool small = std::filesystem::file_size(path, ec) <= kSmall || ec;
    columns.push_back(small ? Column(read_arrays({{name, path}}, whole)[name]) : Column(io::NpyRows(path)));
    fields.push_back(field_of(name, columns.back(), name != target));
    if (!small && name == target && request.kind == nn::TargetKind::classes &&
        is_floating(fields.back().dtype))
      throw Error(path + ": a target of class numbers that is read row by row must hold whole numbers");
  }
  return std::make_shared<ArraySamples>(std::move(columns), std::move(fields));
}

}  // namespace tightloop::train
