// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/csv.h>

#include <cstdlib>

using namespace tightloop;

/// Whatever the text, reading ends in arrays of the right size or in an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
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
