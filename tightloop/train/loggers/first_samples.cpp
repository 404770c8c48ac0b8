// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/first_samples.h>

#include <algorithm>
#include <numeric>

namespace tightloop::train {
namespace {

/// The number of the first field that is not the target.
std::size_t input_of(const std::vector<data::Field>& fields, const std::string& target) {
  const std::string& name = target.empty() ? fields.back().name : target;
  return fields.front().name == name ? 1 : 0;
}

Array streamed(const data::Samples& samples, std::size_t field, const std::vector<std::int64_t>& rows) {
  const auto& fields = samples.fields();
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(rows.size())};
  dims.insert(dims.end(), fields[field].dims.begin(), fields[field].dims.end());
  Array out(fields[field].dtype, dims);
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> places;
  for (const auto& f : fields) places.push_back(memory.emplace_back(f.bytes()).data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    places[field] = out.bytes() + i * fields[field].bytes();
    samples.get(rows[i], {}, places);
  }
  return out;
}

}  // namespace

Array first_samples(const TrainingData& data, std::int64_t count) {
  const DataPart& part = data.validation ? *data.validation : data.train;
  const std::size_t field = input_of(part.data.fields(), data.target);
  if (part.window || count == 0 || field >= part.data.fields().size()) return {};
  std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(count, part.count())));
  std::iota(rows.begin(), rows.end(), 0);
  if (!part.rows.empty()) std::copy_n(part.rows.begin(), rows.size(), rows.begin());
  if (!part.is_stream()) return data::take_rows(part.data.fields()[field].values, rows);
  try {
    return streamed(*part.samples, field, rows);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace tightloop::train
