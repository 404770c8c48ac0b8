// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::io {

/// What a safetensors file holds: named arrays in the order of its header, and free text by key.
struct TensorFile {
  std::vector<std::pair<std::string, Array>> tensors;
  std::map<std::string, std::string> metadata;

  /// Null when there is no tensor of that name.
  const Array* find(std::string_view name) const;
};

/// Reads a safetensors file (github.com/huggingface/safetensors, "Format"): F64 F32 BF16 F16 I64 I32 U8
/// BOOL. Arrays borrow the mapped file where they lie aligned and are copied otherwise. Throws Error
/// naming the file, and the tensor where there is one, on everything that the format does not allow:
/// header too long or no JSON, duplicate or unknown keys, other dtypes, a shape that does not fit its
/// bytes, offsets out of range, overlapping or with holes, missing or trailing bytes.
TensorFile read_safetensors(const std::string& path);

/// The same from bytes; `name` stands for the file in messages.
TensorFile parse_safetensors(const Bytes& bytes, const std::string& name);

/// Writes by AtomicFile. The header keeps the order of `file.tensors`; the data is laid out by falling
/// element size behind a header padded to 8 bytes, so that every array lies aligned. Throws Error on
/// a name that comes twice, is "__metadata__" or is not UTF-8, and when the file cannot be written.
void write_safetensors(const std::string& path, const TensorFile& file);

}  // namespace tightloop::io
