// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/csv.h>

#include <cstdlib>

using namespace tightloop;

std::string read_by(const std::string_view text, int threads, std::vector<data::ColumnValues>& out) {
  try {
    const auto file = data::CsvFile::parse(Bytes::copy_of(text), "a.csv", {.threads = threads});
    const std::size_t last = file.columns().size() - 1;
    const std::vector<data::ColumnRequest> requests{
        {.columns = {0}, .missing = true}, {.columns = {last, 0}, .dtype = DType::i64, .texts = {0, 1}}};
    out = file.read_columns(requests);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// Values, texts and errors do not depend on the number of threads.
void compare_threads(std::string_view text) {
  std::vector<data::ColumnValues> one, three;
  if (read_by(text, 1, one) != read_by(text, 3, three) || one.size() != three.size()) std::abort();
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i].names != three[i].names || !identical(one[i].values, three[i].values)) std::abort();
}

/// Whatever the text, reading ends in arrays of the right size or in an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    compare_threads(text);
    const auto file = data::CsvFile::parse(Bytes::copy_of(text), size % 2 == 0 ? "a.csv" : "a.tsv");
    const std::int64_t rows = file.rows();
    for (std::size_t c = 0; c < file.columns().size() && c < 4; ++c) {
      if (file.kind(c) == data::ColumnKind::text) {
        if (file.classes(c).codes.count() != rows) std::abort();
        continue;
      }
      for (const DType dtype : {DType::f64, DType::i64}) {
        const data::ColumnRequest request{{c}, dtype};
        if (file.read({&request, 1})[0].count() != rows) std::abort();
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
