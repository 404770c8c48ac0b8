// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npy_rows.h>

#include <cstring>
#include <filesystem>

namespace tightloop::io {
namespace {

using tightloop::testing::fixture;

TEST(NpyRows, EveryStoredTypeReadsAsTheWholeArrayDoes) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixture("npy"))) {
    const std::string path = entry.path().string();
    if (path.find("_C_") == std::string::npos) continue;
    ++files;
    const Array whole = read_npy(path);
    const NpyRows rows(path);
    ASSERT_EQ(rows.rows(), whole.dims()[0]) << path;
    ASSERT_EQ(rows.dtype(), whole.dtype()) << path;
    const std::size_t size = whole.size_bytes() / static_cast<std::size_t>(rows.rows());
    std::vector<std::byte> row(size);
    for (std::int64_t i = rows.rows(); i-- > 0;) {
      rows.read(i, row.data());
      EXPECT_EQ(std::memcmp(row.data(), whole.bytes() + static_cast<std::size_t>(i) * size, size), 0)
          << path << i;
    }
  }
  EXPECT_GE(files, 18);
}

TEST(NpyRows, WhatHasNoRowsThatCanBeReadIsRefused) {
  EXPECT_ERROR(NpyRows(fixture("npy/f4_F_little.npy")), "is stored in Fortran order");
  EXPECT_ERROR(NpyRows(fixture("npy/scalar.npy")), "is a single number");
  EXPECT_ERROR(NpyRows(fixture("npy/object.npy")), "Python objects");
  const testing::TempDir dir;
  const std::string whole = testing::content_of(fixture("npy/f4_C_little.npy"));
  EXPECT_ERROR(NpyRows(testing::put(dir / "cut.npy", whole.substr(0, whole.size() - 1))), "its header wants");
}

}  // namespace
}  // namespace tightloop::io
