// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npy_rows.h>
#include <tightloop/io/stored_type.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace tightloop::io {

struct NpyRows::Impl {
  std::string path;
  NpyLayout layout;
  std::vector<std::int64_t> dims;  ///< of a row
  std::size_t row_bytes = 0;
  int file = -1;

  ~Impl() {
    if (file >= 0) ::close(file);
  }
  bool as_stored() const {
    return layout.type->size == size_of(layout.type->dtype) && !layout.order.big_endian;
  }

  void read(std::byte* to, std::size_t size, std::uint64_t at) const {
    while (size > 0) {
      const ssize_t got = ::pread(file, to, size, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw Error(path + ": cannot be read: " + (got < 0 ? std::strerror(errno) : "it became shorter"));
      to += got, size -= static_cast<std::size_t>(got), at += static_cast<std::uint64_t>(got);
    }
  }
};

NpyRows::NpyRows(const std::string& path) {
  const auto impl = std::make_shared<Impl>();
  impl->path = path;
  const Bytes content = map_file(path);  // only the header's pages are touched
  impl->layout = parse_npy_layout(content.text(), path);
  const auto& shape = impl->layout.shape;
  if (shape.empty()) throw Error(path + ": is a single number; its first dim must count rows");
  if (impl->layout.order.fortran_order && shape.size() > 1)
    throw Error(path +
                ": is stored in Fortran order, whose rows cannot be read one by one; save it with "
                "numpy.ascontiguousarray");
  impl->dims.assign(shape.begin() + 1, shape.end());
  impl->row_bytes = stored_bytes(impl->dims, impl->layout.type->size, path);
  if (content.size() - impl->layout.start != stored_bytes(shape, impl->layout.type->size, path))
    throw Error(path + ": the file has " + std::to_string(content.size() - impl->layout.start) +
                " bytes of values, its header wants " +
                std::to_string(stored_bytes(shape, impl->layout.type->size, path)));
  impl->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (impl->file < 0) throw Error(path + ": cannot be read: " + std::strerror(errno));
  impl_ = impl;
}

std::int64_t NpyRows::rows() const { return impl_->layout.shape[0]; }
DType NpyRows::dtype() const { return impl_->layout.type->dtype; }
const std::vector<std::int64_t>& NpyRows::dims() const { return impl_->dims; }

void NpyRows::read(std::int64_t row, std::byte* out) const {
  const std::uint64_t at = impl_->layout.start + static_cast<std::uint64_t>(row) * impl_->row_bytes;
  if (impl_->as_stored()) {
    impl_->read(out, impl_->row_bytes, at);
    if (dtype() == DType::boolean) check_bools(Array::borrow(DType::boolean, impl_->dims, out), impl_->path);
    return;
  }
  thread_local std::vector<std::byte> stored;
  stored.resize(impl_->row_bytes);
  impl_->read(stored.data(), stored.size(), at);
  const Array values = decode(*impl_->layout.type, impl_->dims, Bytes(stored.data(), stored.size(), nullptr),
                              impl_->layout.order, impl_->path);
  std::memcpy(out, values.bytes(), values.size_bytes());
}

}  // namespace tightloop::io
