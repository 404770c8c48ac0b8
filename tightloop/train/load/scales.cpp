// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace tightloop::train {
namespace {

std::string method_for(const Job& job, const std::string& input) {
  for (const Normalize& n : job.data.normalize)
    if (n.input.empty() || n.input == input) return n.method;
  return "none";
}

struct Statistics {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  void add(double v, double times) {
    low = std::min(low, v), high = std::max(high, v);
    sum += times * v, squares += times * v * v;
  }
};

/// Calls `visit(first, last)` with the bounds of each row's elements.
template <class Visit>
void each_row(const Array& values, std::span<const std::int64_t> rows, Visit visit) {
  const std::int64_t n = rows.empty() ? values.dims()[0] : static_cast<std::int64_t>(rows.size());
  const std::int64_t features = values.count() / values.dims()[0];
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t start = (rows.empty() ? r : rows[static_cast<std::size_t>(r)]) * features;
    visit(start, start + features);
  }
}

Statistics statistics(const Array& values, std::span<const std::int64_t> rows) {
  Statistics out;
  if (values.dtype() != DType::u8) {
    each_row(values, rows, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) out.add(values.at(i), 1);
    });
    return out;
  }
  const std::uint8_t* bytes = values.as<std::uint8_t>().data();
  std::array<std::int64_t, 256> times{};
  each_row(values, rows, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) ++times[bytes[i]];
  });
  for (std::size_t v = 0; v < times.size(); ++v)
    if (times[v] > 0) out.add(static_cast<double>(v), static_cast<double>(times[v]));
  return out;
}

/// Images and the like share one shift and one scale, so that a pixel that hardly ever lights up is not blown
/// up.
data::FieldScale pooled(const data::Field& field, data::Normalization how,
                        std::span<const std::int64_t> rows) {
  const Statistics s = statistics(field.values, rows);
  const std::int64_t n = rows.empty() ? field.values.dims()[0] : static_cast<std::int64_t>(rows.size());
  const std::int64_t features = field.values.count() / field.values.dims()[0];
  const double count = static_cast<double>(n * features), mean = s.sum / count;
  const bool minmax = how == data::Normalization::minmax;
  const double spread = minmax ? s.high - s.low : std::sqrt(std::max(0.0, s.squares / count - mean * mean));
  if (!std::isfinite(spread))
    throw Error(fmt::format("'{}' holds NaN or infinity and cannot be normalized", field.name));
  std::vector<std::int64_t> dims(field.values.dims().begin() + 1, field.values.dims().end());
  data::FieldScale out{field.name, Array(DType::f32, dims), Array(DType::f32, dims)};
  for (std::int64_t i = 0; i < features; ++i)
    out.shift.set(i, minmax ? s.low : mean), out.scale.set(i, spread > 0 ? spread : 1);
  return out;
}

/// The rows of the data that the part's samples see.
std::vector<std::int64_t> seen_rows(const DataPart& part) {
  if (!part.window) return part.rows;
  std::vector<std::int64_t> out;
  for (const std::int64_t first : part.rows)
    for (std::int64_t r = std::max(first, out.empty() ? 0 : out.back() + 1); r < first + part.window->length;
         ++r)
      out.push_back(r);
  return out;
}

/// Whole numbers other than u8 are ids. To normalise one of them by name is a mistake, and so is to normalise
/// all inputs where all are ids.
void check_normalized(const Job& job, const DataPart& part) {
  const auto is_id = [&](const std::string& input) { return !data::is_normalized(part.data[input].dtype()); };
  const auto inputs = names_of(job.data.inputs);
  for (const Normalize& n : job.data.normalize) {
    if (n.method == "none") continue;
    if (!n.input.empty() && is_id(n.input))
      throw Error(
          fmt::format("{}: '{}' is {}: whole numbers are ids, which are not normalized; leave it out, "
                      "or store it as floats",
                      n.where, n.input, part.data[n.input].type_string()));
    if (n.input.empty() && std::all_of(inputs.begin(), inputs.end(), is_id))
      throw Error(fmt::format("{}: no input can be normalized: {} {} whole numbers, which are ids", n.where,
                              fmt::join(inputs, ", "), inputs.size() == 1 ? "holds" : "hold"));
  }
}

}  // namespace

std::vector<data::FieldScale> fit_scales(const Job& job, const DataPart& part) {
  const auto inputs = names_of(job.data.inputs);
  for (const Normalize& n : job.data.normalize)
    if (!n.input.empty() && std::find(inputs.begin(), inputs.end(), n.input) == inputs.end())
      throw Error(fmt::format("{} names {}; inputs are {}", n.where,
                              n.input == job.data.target[0].name ? "the target, which is never normalized"
                                                                 : "no input" + suggestion(n.input, inputs),
                              fmt::join(inputs, ", ")));
  check_normalized(job, part);
  std::vector<data::FieldScale> out;
  const std::vector<std::int64_t> rows = seen_rows(part);
  for (const Field& f : job.data.inputs) {
    const auto how = data::normalization_from_name(method_for(job, f.name));
    const Array& values = part.data[f.name];
    if (how == data::Normalization::none || !data::is_normalized(values.dtype())) continue;
    const data::Field field{f.name, values};
    out.push_back(values.rank() < 3 ? data::field_scale(field, how, rows) : pooled(field, how, rows));
  }
  return out;
}

}  // namespace tightloop::train
