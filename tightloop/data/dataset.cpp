// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/dataset.h>
#include <tightloop/data/split_generator.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>

namespace tightloop::data {
namespace {

std::int64_t rows_of(const Field& field) {
  if (field.values.rank() == 0)
    throw Error("data: field '" + field.name + "' is a single number; its first dim must count rows");
  return field.values.dims()[0];
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}

}  // namespace

Dataset::Dataset(std::vector<Field> fields) : fields_(std::move(fields)) {
  if (fields_.empty()) throw Error("data: a data set needs at least one field");
  rows_ = rows_of(fields_[0]);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& f = fields_[i];
    const std::int64_t rows = rows_of(f);
    if (rows == 0) throw Error("data: field '" + f.name + "' has 0 rows: " + f.values.type_string());
    if (rows != rows_)
      throw Error("data: field '" + f.name + "' has " + std::to_string(rows) + " rows, field '" +
                  fields_[0].name + "' has " + std::to_string(rows_));
    for (std::size_t j = 0; j < i; ++j)
      if (fields_[j].name == f.name) throw Error("data: two fields are named '" + f.name + "'");
  }
}

const Array* Dataset::find(std::string_view name) const {
  for (const auto& f : fields_)
    if (f.name == name) return &f.values;
  return nullptr;
}

const Array& Dataset::operator[](std::string_view name) const {
  if (const Array* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& f : fields_) names.push_back(f.name);
  throw Error("data: there is no field '" + std::string(name) + "'" + suggestion(name, names));
}

Dataset Dataset::select(std::span<const std::int64_t> rows) const {
  std::vector<Field> out;
  for (const auto& f : fields_) out.push_back({f.name, take_rows(f.values, rows)});
  return Dataset(std::move(out));
}

Dataset concatenate(std::span<const Dataset> parts) {
  if (parts.empty()) throw Error("data: there is nothing to concatenate");
  std::vector<Field> out;
  for (const Field& first : parts[0].fields()) {
    auto dims = first.values.dims();
    dims[0] = 0;
    for (const Dataset& part : parts) {
      const Array& a = part[first.name];
      auto like = dims;
      like[0] = a.rank() > 0 ? a.dims()[0] : 0;
      if (part.fields().size() != parts[0].fields().size() || a.dtype() != first.values.dtype() ||
          a.dims() != like)
        throw Error("data: field '" + first.name + "' is " + first.values.type_string() +
                    " in one part and " + a.type_string() + " in another, or the parts have other fields");
      dims[0] += like[0];
    }
    Array all(first.values.dtype(), dims);
    std::byte* to = all.bytes();
    for (const Dataset& part : parts) {
      const Array& a = part[first.name];
      std::memcpy(to, a.bytes(), a.size_bytes());
      to += a.size_bytes();
    }
    out.push_back({first.name, std::move(all)});
  }
  return Dataset(std::move(out));
}

Dataset subset(const Dataset& data, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 1 || first > data.rows() - count)
    throw Error("data: rows " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                " are not all in the " + std::to_string(data.rows()) + " rows (from 0)");
  std::vector<Field> out;
  for (const Field& f : data.fields()) {
    auto dims = f.values.dims();
    dims[0] = count;
    const std::size_t row = f.values.size_bytes() / static_cast<std::size_t>(data.rows());
    const auto owner = std::make_shared<Array>(f.values);
    out.push_back({f.name, Array::borrow(f.values.dtype(), std::move(dims),
                                         owner->bytes() + static_cast<std::size_t>(first) * row, owner)});
  }
  return Dataset(std::move(out));
}

Dataset map(const Dataset& data, const std::string& from, const std::string& name,
            const std::function<Array(const Array&)>& change) {
  Field changed{name, change(data[from])};
  std::vector<Field> out = data.fields();
  const auto old = std::find_if(out.begin(), out.end(), [&](const Field& f) { return f.name == name; });
  if (old != out.end())
    *old = std::move(changed);
  else
    out.push_back(std::move(changed));
  return Dataset(std::move(out));
}

Array take_rows(const Array& values, std::span<const std::int64_t> rows) {
  require(values.rank() > 0, "take_rows: no rows in a scalar");
  auto dims = values.dims();
  const std::int64_t all = dims[0];
  dims[0] = static_cast<std::int64_t>(rows.size());
  Array out(values.dtype(), std::move(dims));
  const std::size_t size = all == 0 ? 0 : values.size_bytes() / static_cast<std::size_t>(all);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= all)
      throw Error("data: row " + std::to_string(rows[i]) + " of " + std::to_string(all) + " rows");
    if (size != 0)
      std::memcpy(out.bytes() + i * size, values.bytes() + static_cast<std::size_t>(rows[i]) * size, size);
  }
  return out;
}

Split split_rows(std::int64_t rows, double fraction, std::uint64_t seed) {
  const auto numbers = [&] { return shortest(fraction) + " of " + std::to_string(rows) + " rows"; };
  if (!(fraction > 0 && fraction < 1))
    throw Error("data: the validation fraction must lie between 0 and 1, not be " + shortest(fraction));
  const std::int64_t held = std::llround(static_cast<double>(rows) * fraction);
  if (held <= 0) throw Error("data: a validation fraction of " + numbers() + " holds back 0 rows");
  if (held >= rows) throw Error("data: a validation fraction of " + numbers() + " leaves 0 rows to train on");
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  SplitGenerator generator(seed);
  generator.shuffle(order, static_cast<std::size_t>(held));
  Split split{{order.begin() + held, order.end()}, {order.begin(), order.begin() + held}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace tightloop::data
