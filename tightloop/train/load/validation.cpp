// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

void check_same_types(const data::Dataset& train, const data::Dataset& other, const std::string& what) {
  for (const auto& f : train.fields()) {
    const Array* o = other.find(f.name);
    if (o == nullptr) continue;
    auto a = f.values.dims(), b = o->dims();
    if (a.size() == b.size()) a[0] = b[0] = 0;
    if (a != b || f.values.dtype() != o->dtype())
      throw Error(fmt::format("{}: '{}' is {}, in the training data it is {}", what, f.name, o->type_string(),
                              f.values.type_string()));
  }
}

}  // namespace

void add_validation(const Job& job, LoadedData& out, Request& request) {
  const Validation& v = job.data.validation;
  out.split.rows = out.data.train.data.rows();
  if (v.none()) return;
  if (v.fraction > 0) {
    auto split = data::split_rows(out.split.rows, v.fraction);
    out.data.train.rows = std::move(split.train);
    out.data.validation = DataPart{out.data.train.data, split.validation};
    out.split = {"fraction", v.fraction, out.split.rows, std::move(split.validation)};
    return;
  }
  const std::string train = resolve(job, job.data.train);
  const bool table = !train.empty() && !fs::is_directory(train) &&
                     open_source(train, source_options(job)).table() != nullptr;
  if (table && !v.files.empty())
    throw Error(job.source +
                ": data.validation is a table of files, but data.train is a CSV table; name a CSV file");
  const std::string path = v.files.empty() ? resolve(job, v.file) : table ? "" : train;
  out.data.validation = DataPart{read_part(path, v.files, request)};
  out.split.kind = "file";
  check_same_types(out.data.train.data, out.data.validation->data, "data.validation");
}

}  // namespace tightloop::train
