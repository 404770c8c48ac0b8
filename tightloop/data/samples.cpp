// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/shape.h>
#include <tightloop/data/samples.h>

namespace tightloop::data {

std::size_t SampleField::bytes() const { return static_cast<std::size_t>(product(dims)) * size_of(dtype); }

std::string Samples::name(std::int64_t i) const { return "sample " + std::to_string(i + 1); }

Dataset prototype(const Samples& samples) {
  if (samples.size() < 1) throw Error("data: there are no samples");
  std::vector<Field> fields;
  for (const SampleField& f : samples.fields()) {
    std::vector<std::int64_t> dims{1};
    dims.insert(dims.end(), f.dims.begin(), f.dims.end());
    fields.push_back({f.name, Array(f.dtype, std::move(dims))});
  }
  return Dataset(std::move(fields));
}

}  // namespace tightloop::data
