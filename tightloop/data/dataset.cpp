// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/dataset.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

namespace tightloop::data {
namespace {

/// SplitMix64 (Steele, Lea and Flood, 2014).
class SplitGenerator {
 public:
  explicit SplitGenerator(std::uint64_t seed) : state_(seed) {}

  /// Uniform in [0, n): draws again below 2^64 mod n, so that no value is favoured.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t reject = (0 - n) % n;
    for (;;) {
      const std::uint64_t x = next();
      if (x >= reject) return x % n;
    }
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

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
  for (std::size_t i = 0; i < static_cast<std::size_t>(held); ++i)
    std::swap(order[i], order[i + static_cast<std::size_t>(generator.below(order.size() - i))]);
  Split split{{order.begin() + held, order.end()}, {order.begin(), order.begin() + held}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

}  // namespace tightloop::data
