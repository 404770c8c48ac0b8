// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tightloop::io {

/// An NPY file whose rows are read one by one, for arrays larger than memory. Copies share the open file; any
/// thread may read.
class NpyRows {
 public:
  /// Reads the header. Throws Error for what parse_npy() refuses, for a scalar, and for Fortran order, in
  /// which a row lies all over the file.
  explicit NpyRows(const std::string& path);

  std::int64_t rows() const;
  DType dtype() const;
  /// Of one row.
  const std::vector<std::int64_t>& dims() const;
  /// Writes row `row` to `out`. Throws Error when the file cannot be read or a value does not fit.
  void read(std::int64_t row, std::byte* out) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tightloop::io
