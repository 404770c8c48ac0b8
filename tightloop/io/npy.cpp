// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npy_header.h>
#include <tightloop/io/stored_type.h>

namespace tightloop::io {
namespace {

std::string why_not(char kind) {
  switch (kind) {
    case 'O':
      return " (Python objects: loading them would run code)";
    case 'U':
    case 'S':
    case 'a':
      return " (text: encode classes as numbers)";
    case 'c':
      return " (complex numbers: save the real and imaginary parts)";
    case 'M':
    case 'm':
      return " (dates: save them as numbers)";
    case 'V':
      return " (raw bytes)";
    default:
      return "";
  }
}

/// Splits "<f4" into byte order and type; throws Error for what is not supported.
const StoredType& stored_type(const std::string& descr, StoredLayout& layout, const std::string& name) {
  const bool ordered = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const std::string code = ordered ? descr.substr(1) : descr;
  const StoredType* type = stored_type_of_npy(code);
  if (type == nullptr)
    throw Error(name + ": the NPY element type '" + descr + "' is not supported" +
                why_not(code.empty() ? ' ' : code[0]) + "; supported: " + npy_type_list());
  if (type->size > 1 && (!ordered || descr[0] == '|'))
    throw Error(name + ": the NPY element type '" + descr + "' does not say its byte order");
  layout.big_endian = descr[0] == '>';
  return *type;
}

std::string descr_of(DType dtype, const std::string& path) {
  switch (dtype) {
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::f16:
      return "<f2";
    case DType::i32:
      return "<i4";
    case DType::i64:
      return "<i8";
    case DType::u8:
      return "|u1";
    case DType::boolean:
      return "|b1";
    case DType::bf16:
      break;
  }
  throw Error("cannot write '" + path + "': NPY has no " + std::string(name(dtype)) +
              " type; cast to f32 first");
}

std::string header_text(DType dtype, const std::vector<std::int64_t>& dims, const std::string& path) {
  std::string shape;
  for (const auto d : dims) shape += std::to_string(d) + ", ";
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  if (dims.size() == 1) shape.pop_back();
  return "{'descr': '" + descr_of(dtype, path) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
}

}  // namespace

bool is_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kNpyMagic);
}

NpyLayout parse_npy_layout(std::string_view text, const std::string& name) {
  const NpyHeader header = parse_npy_header(text, name);
  if (!header.fields.empty())
    throw Error(
        name +
        ": the NPY header describes records with named fields, which are not supported: save each field "
        "by itself");
  NpyLayout out{nullptr, {.fortran_order = header.fortran_order}, header.shape, header.start};
  out.type = &stored_type(header.descr, out.order, name);
  return out;
}

Array parse_npy(const Bytes& bytes, const std::string& name) {
  const NpyLayout layout = parse_npy_layout(bytes.text(), name);
  return decode(*layout.type, layout.shape, bytes.from(layout.start), layout.order, name);
}

Array read_npy(const std::string& path) {
  const Bytes bytes = read_file(path);
  return while_unchanged(bytes, [&] { return parse_npy(bytes, path); });
}

std::string npy_header(DType dtype, const std::vector<std::int64_t>& dims, const std::string& path,
                       std::size_t least) {
  return npy_preamble(header_text(dtype, dims, path), least);
}

void write_npy(const std::string& path, const Array& array) {
  const std::string head = npy_header(array.dtype(), array.dims(), path);
  AtomicFile file(path);
  file.write(head);
  file.write({array.bytes(), array.size_bytes()});
  file.commit();
}

}  // namespace tightloop::io
