// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/io/idx.h>
#include <tightloop/io/stored_type.h>

namespace tightloop::io {
namespace {

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

std::int64_t big_endian_dim(std::span<const std::byte> bytes, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(bytes, at + i);
  return value;
}

}  // namespace

bool is_idx(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && byte_at(bytes, 0) == 0 && byte_at(bytes, 1) == 0 &&
         stored_type_of_idx(static_cast<std::uint8_t>(byte_at(bytes, 2))) != nullptr && byte_at(bytes, 3) > 0;
}

Array parse_idx(const Bytes& bytes, const std::string& name) {
  const auto span = bytes.span();
  if (span.size() < 4 || byte_at(span, 0) != 0 || byte_at(span, 1) != 0)
    throw Error(name + ": not an IDX file: it does not begin with two zero bytes, a type and a rank");
  const StoredType* type = stored_type_of_idx(static_cast<std::uint8_t>(byte_at(span, 2)));
  if (type == nullptr)
    throw Error(name + ": IDX type byte " + std::to_string(byte_at(span, 2)) +
                " is not known (8 u8, 9 i8, 11 i16, 12 i32, 13 f32, 14 f64 are)");
  const std::size_t rank = byte_at(span, 3);
  if (rank == 0) throw Error(name + ": the IDX header says rank 0: it holds no rows");
  const std::size_t start = 4 + 4 * rank;
  if (span.size() < start) throw Error(name + ": the IDX file is cut short inside its header");
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(big_endian_dim(span, 4 + 4 * i));
  return decode(*type, std::move(dims), bytes.from(start), {.big_endian = true}, name);
}

Array read_idx(const std::string& path) {
  const Bytes bytes = read_file(path);
  return while_unchanged(bytes, [&] { return parse_idx(bytes, path); });
}

}  // namespace tightloop::io
