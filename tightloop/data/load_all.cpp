// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/loader.h>
#include <tightloop/engine/machine.h>

#include <algorithm>
#include <cstring>

namespace tightloop::data {
namespace {

/// Keeps the first rows, and the memory of all.
void shorten(Array& a, std::int64_t rows) {
  std::vector<std::int64_t> dims = a.dims();
  dims[0] = rows;
  a = Array::borrow(a.dtype(), std::move(dims), a.bytes(), std::make_shared<Array>(a));
}

}  // namespace

Loaded load_all(const std::shared_ptr<const Samples>& samples, std::span<const std::int64_t> rows,
                LoaderOptions options,
                const std::function<bool(std::int64_t done, std::int64_t of)>& progress) {
  if (options.workers == kAutomatic) options.workers = available_cores() - 1;
  const std::int64_t count = rows.empty() ? samples->size() : static_cast<std::int64_t>(rows.size());
  if (count < 1) throw Error("data: there are no samples");
  Sampling sampling{.rows = count, .batch = std::min<std::int64_t>(count, 64)};
  sampling.subset = rows.empty() ? nullptr : rows.data();
  sampling.data_rows = samples->size();
  std::vector<Field> fields;
  for (const SampleField& f : samples->fields()) {
    std::vector<std::int64_t> dims{count};
    dims.insert(dims.end(), f.dims.begin(), f.dims.end());
    fields.push_back({f.name, Array(f.dtype, std::move(dims))});
  }
  std::vector<std::int64_t> numbers;
  Loader loader(samples, sampling, options);
  for (std::int64_t step = 0; step < sampling.steps_per_epoch(); ++step) {
    if (progress && !progress(std::min(count, step * sampling.batch), count))
      throw Error("data: ended before all samples were made");
    const LoadedBatch& batch = loader.at(step);
    for (std::size_t f = 0; f < fields.size(); ++f)
      std::memcpy(fields[f].values.bytes() + numbers.size() * samples->fields()[f].bytes(),
                  batch.fields[f].bytes(), batch.fields[f].size_bytes());
    const auto made = batch.numbers.as<std::int64_t>();
    numbers.insert(numbers.end(), made.begin(), made.end());
  }
  for (Field& f : fields) shorten(f.values, static_cast<std::int64_t>(numbers.size()));
  return {Dataset(std::move(fields)), std::move(numbers), loader.skipped()};
}

}  // namespace tightloop::data
