// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>

#include <fmt/format.h>
#include <algorithm>
#include <initializer_list>

namespace tightloop::train {
namespace {

using Data = Job::Data;

constexpr auto kTable = SourceKind::table, kArrays = SourceKind::arrays, kNamed = SourceKind::named_arrays,
               kText = SourceKind::text, kImages = SourceKind::images, kShards = SourceKind::shards,
               kRows = SourceKind::npy_rows;

/// A key that only some kinds of data look at. Arrays may turn out to be streams, by their size.
struct PartialKey {
  const char* key;
  const char* meant_for;
  bool (*given)(const Data&);
  std::initializer_list<SourceKind> kinds;
};

const PartialKey kKeys[] = {
    {"format",
     "files, whose content may not show what they are",
     [](const Data& d) { return !d.format.empty(); },
     {kTable, kArrays, kNamed, kText, kRows}},
    {"separator", "tables (CSV)", [](const Data& d) { return !d.separator.empty(); }, {kTable}},
    {"header", "tables (CSV)", [](const Data& d) { return d.header.has_value(); }, {kTable}},
    // reading arrays refuses them with their place in the job
    {"columns",
     "tables (CSV)",
     [](const Data& d) { return !d.columns.empty(); },
     {kTable, kArrays, kNamed, kText}},
    {"vocabulary",
     "text (data.format = \"text\")",
     [](const Data& d) { return !d.vocabulary.empty(); },
     {kText}},
    {"images", "images", [](const Data& d) { return d.images.given; }, {kImages, kShards}},
    {"workers",
     "streams",
     [](const Data& d) { return d.workers != Data().workers; },
     {kImages, kShards, kRows, kArrays}},
    {"prefetch",
     "streams",
     [](const Data& d) { return d.prefetch != Data().prefetch; },
     {kImages, kShards, kRows, kArrays}},
    {"on_error",
     "streams",
     [](const Data& d) { return d.on_error != Data().on_error; },
     {kImages, kShards, kRows, kArrays}},
};

const char* name_of(SourceKind kind) {
  switch (kind) {
    case SourceKind::table:
      return "a table";
    case SourceKind::arrays:
      return "arrays";
    case SourceKind::named_arrays:
      return "arrays of one file or folder";
    case SourceKind::text:
      return "text";
    case SourceKind::images:
      return "a folder of images";
    case SourceKind::shards:
      return "tar shards";
    case SourceKind::npy_rows:
      return "NPY files that are read row by row";
  }
  return "";
}

}  // namespace

void check_keys(const Job& job, SourceKind kind) {
  for (const PartialKey& k : kKeys)
    if (k.given(job.data) && std::find(k.kinds.begin(), k.kinds.end(), kind) == k.kinds.end())
      throw Error(fmt::format("{}: data.{} is for {}, but the training data are {}; leave it out", job.source,
                              k.key, k.meant_for, name_of(kind)));
  if (kind == kRows && !job.data.format.empty() && job.data.format != "npy")
    throw Error(fmt::format("{}: data.format is '{}', but the training data are {}", job.source,
                            job.data.format, name_of(kind)));
}

}  // namespace tightloop::train
