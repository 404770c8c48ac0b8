// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/half.h>
#include <tightloop/data/normalize.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tightloop::data {
namespace {

struct Stored16 {
  std::uint16_t bits;
};
struct Bf16 : Stored16 {};
struct F16 : Stored16 {};

double number(float x) { return x; }
double number(double x) { return x; }
double number(std::uint8_t x) { return x; }
double number(Bf16 x) { return from_bf16(x.bits); }
double number(F16 x) { return from_f16(x.bits); }

/// Calls function(T{}) with the element type of a field that is_normalized().
template <class Function>
void with_type(DType dtype, Function function) {
  switch (dtype) {
    case DType::f32:
      return function(float{});
    case DType::f64:
      return function(double{});
    case DType::bf16:
      return function(Bf16{});
    case DType::f16:
      return function(F16{});
    default:
      return function(std::uint8_t{});
  }
}

struct Statistics {
  std::vector<double> mean, deviation, low, high;
};

/// Walks the chosen rows of [N, ...]: visit(row, first element of the row).
class Rows {
 public:
  Rows(const Array& values, std::span<const std::int64_t> chosen)
      : values_(values), chosen_(chosen), all_(values.dims()[0]), features_(values.count() / all_) {
    for (const std::int64_t r : chosen_)
      if (r < 0 || r >= all_)
        throw Error("data: row " + std::to_string(r) + " of " + std::to_string(all_) + " rows");
  }
  std::int64_t count() const { return chosen_.empty() ? all_ : static_cast<std::int64_t>(chosen_.size()); }
  std::size_t features() const { return static_cast<std::size_t>(features_); }

  template <class T, class Visit>
  void each(Visit visit) const {
    const T* data = reinterpret_cast<const T*>(values_.bytes());
    for (std::int64_t i = 0; i < count(); ++i) {
      const std::int64_t row = chosen_.empty() ? i : chosen_[static_cast<std::size_t>(i)];
      visit(row, data + row * features_);
    }
  }

 private:
  const Array& values_;
  std::span<const std::int64_t> chosen_;
  std::int64_t all_;
  std::int64_t features_;
};

template <class T>
void check_finite(const Rows& rows, const std::string& field) {
  rows.each<T>([&](std::int64_t row, const T* x) {
    for (std::size_t j = 0; j < rows.features(); ++j)
      if (!std::isfinite(number(x[j])))
        throw Error("data: field '" + field + "', row " + std::to_string(row) + ", feature " +
                    std::to_string(j) + " is " + std::to_string(number(x[j])) + "; it cannot be normalised");
  });
}

template <class T>
Statistics statistics(const Rows& rows, const std::string& field) {
  const std::size_t n = rows.features();
  const double share = 1.0 / static_cast<double>(rows.count());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Statistics s{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n, kInfinity),
               std::vector<double>(n, -kInfinity)};
  rows.each<T>([&](std::int64_t, const T* x) {
    for (std::size_t j = 0; j < n; ++j) {
      const double v = number(x[j]);
      s.mean[j] += v * share;
      s.low[j] = v < s.low[j] ? v : s.low[j];
      s.high[j] = v > s.high[j] ? v : s.high[j];
    }
  });
  for (const double m : s.mean)
    if (!std::isfinite(m)) check_finite<T>(rows, field);
  rows.each<T>([&](std::int64_t, const T* x) {
    for (std::size_t j = 0; j < n; ++j) {
      const double d = number(x[j]) - s.mean[j];
      s.deviation[j] += d * d * share;
    }
  });
  for (double& d : s.deviation) d = std::sqrt(d);
  return s;
}

Array features_of(const Field& field) {
  auto dims = field.values.dims();
  dims.erase(dims.begin());
  return {field.values.dtype() == DType::f64 ? DType::f64 : DType::f32, std::move(dims)};
}

void check_scale(const FieldScale& s) {
  if (s.shift.dims() != s.scale.dims() || !is_compute_float(s.shift.dtype()) ||
      s.shift.dtype() != s.scale.dtype())
    throw Error("normalisation of '" + s.field + "': shift is " + s.shift.type_string() + ", scale is " +
                s.scale.type_string());
  for (std::int64_t i = 0; i < s.scale.count(); ++i)
    if (!std::isfinite(s.shift.at(i)) || !std::isfinite(s.scale.at(i)) || s.scale.at(i) == 0)
      throw Error("normalisation of '" + s.field + "': feature " + std::to_string(i) + " has the shift " +
                  std::to_string(s.shift.at(i)) + " and the scale " + std::to_string(s.scale.at(i)));
}

constexpr std::string_view kShift = ".shift";
constexpr std::string_view kScale = ".scale";

}  // namespace

Normalization normalization_from_name(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [value, text] : kNormalizations) {
    if (text == name) return value;
    names.emplace_back(text);
  }
  throw Error("normalize: '" + std::string(name) + "' is not none, standard or minmax" +
              suggestion(name, names));
}

bool is_normalized(DType dtype) { return is_floating(dtype) || dtype == DType::u8; }

FieldScale field_scale(const Field& field, Normalization how, std::span<const std::int64_t> rows) {
  if (!is_normalized(field.values.dtype()))
    throw Error("normalize: field '" + field.name + "' is " + field.values.type_string() +
                "; floats and u8 can be normalised");
  FieldScale out{field.name, features_of(field), features_of(field)};
  if (field.values.count() == 0) return out;
  Statistics s;
  with_type(field.values.dtype(),
            [&]<class T>(T) { s = statistics<T>(Rows(field.values, rows), field.name); });
  for (std::int64_t j = 0; j < out.scale.count(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    const bool constant = s.low[i] == s.high[i];
    const bool standard = how == Normalization::standard;
    out.shift.set(j, how == Normalization::none ? 0 : standard && !constant ? s.mean[i] : s.low[i]);
    out.scale.set(j, how == Normalization::none || constant ? 1
                     : standard                             ? s.deviation[i]
                                                            : s.high[i] - s.low[i]);
    if (out.scale.at(j) == 0) out.scale.set(j, 1);  // the spread is below what the dtype holds
  }
  check_scale(out);
  return out;
}

std::vector<FieldScale> fit_normalization(const Dataset& data, const std::vector<std::string>& fields,
                                          Normalization how, std::span<const std::int64_t> rows) {
  std::vector<FieldScale> out;
  if (how == Normalization::none) return out;
  for (const auto& name : fields)
    if (is_normalized(data[name].dtype())) out.push_back(field_scale({name, data[name]}, how, rows));
  return out;
}

std::vector<std::pair<std::string, Array>> to_tensors(const std::vector<FieldScale>& scales) {
  std::vector<std::pair<std::string, Array>> out;
  for (const auto& s : scales) {
    out.emplace_back(s.field + std::string(kShift), s.shift);
    out.emplace_back(s.field + std::string(kScale), s.scale);
  }
  return out;
}

std::vector<FieldScale> from_tensors(const std::vector<std::pair<std::string, Array>>& tensors) {
  std::vector<FieldScale> out;
  const auto find = [&](const std::string& key) -> const Array& {
    for (const auto& [name, array] : tensors)
      if (name == key) return array;
    throw Error("normalisation: '" + key + "' is missing");
  };
  for (const auto& [name, array] : tensors) {
    const bool shift = name.ends_with(kShift);
    if (!shift && !name.ends_with(kScale)) throw Error("normalisation: unexpected tensor '" + name + "'");
    const std::string field = name.substr(0, name.size() - kShift.size());
    const Array& scale = find(field + std::string(kScale));
    const Array& shifts = find(field + std::string(kShift));
    if (shift) out.push_back({field, shifts, scale});
  }
  for (const auto& s : out) check_scale(s);
  return out;
}

Array normalized(const Array& values, const FieldScale& scale) {
  auto dims = values.dims();
  const bool fits = !dims.empty() && std::vector(dims.begin() + 1, dims.end()) == scale.shift.dims();
  if (!fits)
    throw Error("normalisation of '" + scale.field + "': " + values.type_string() +
                " does not have the features " + scale.shift.type_string());
  Array out(scale.shift.dtype(), dims);
  const std::int64_t features = scale.shift.count();
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set(i, (values.at(i) - scale.shift.at(i % features)) / scale.scale.at(i % features));
  return out;
}

}  // namespace tightloop::data
