// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <tightloop/data/samples.h>

#include <fmt/format.h>

namespace tightloop::train::tune {
namespace {

/// Of all samples as they are decoded. Whole images may be larger than the parts that the stream makes.
std::size_t bytes_of(const DataPart& part) {
  std::size_t bytes = 0;
  for (const data::SampleField& f : part.samples->fields()) bytes += f.bytes();
  return bytes * static_cast<std::size_t>(part.samples->size());
}

Proposal propose(const Situation& s) {
  if (!s.part().is_stream()) return skip("the samples are in memory");
  const std::size_t bytes = bytes_of(s.part());
  if (bytes > s.free_memory / 2)
    return skip(
        fmt::format("the samples take {:.1f} GB and {:.1f} are free; images are read faster once they are "
                    "decoded by tightloop pack",
                    1e-9 * static_cast<double>(bytes), 1e-9 * static_cast<double>(s.free_memory)));
  return {{{"all samples in memory", {set("data.memory", "\"resident\"")}}}};
}

}  // namespace

const MoveDef& memory_move() {
  static const MoveDef def{"memory", "samples read once and kept, not made batch by batch", Effect::numbers,
                           propose};
  return def;
}

}  // namespace tightloop::train::tune
