// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

Array one_a_sample(Array a, const std::string& name, std::int64_t samples) {
  if (a.count() != samples)
    throw Error(fmt::format("'{}' is {}; one value for each of the {} samples is needed", name,
                            a.type_string(), samples));
  return a.reshaped({samples});
}

}  // namespace

Array sample_column(const Job& job, const DataPart& part, bool arrays, const std::string& name, bool text) {
  const Field& target = job.data.target[0];
  const bool is_target = name == target.name || (target.from.size() == 1 && name == target.from[0]);
  if (!part.is_stream()) {
    const Array* field = part.data.find(is_target ? target.name : name);
    if (field != nullptr) return one_a_sample(*field, name, part.total());
  }
  if (is_target && part.is_stream()) {
    const auto labels = part.samples->labels();
    if (!labels.empty())
      return Array::of<std::int64_t>({part.total()}, std::span<const std::int64_t>(labels));
  }
  if (arrays)
    return one_a_sample(extra_column(job, training_files(job), is_target ? target.from[0] : name, text), name,
                        part.total());
  throw Error(fmt::format("{}: '{}' of each sample must be known before they are made; {}", job.source, name,
                          is_target
                              ? "of tar shards it is not: make them one array by tightloop pack, or set "
                                "data.memory = \"resident\""
                              : "of images and shards only the class can be"));
}

}  // namespace tightloop::train
