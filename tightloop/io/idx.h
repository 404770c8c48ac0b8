// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <span>
#include <string>

namespace tightloop::io {

/// Reads an IDX file (the format of MNIST: two zero bytes, a type byte, the rank, big-endian dims and
/// data), gzip or not. u8 data is borrowed, i8 and i16 widen to i32, i32, f32 and f64 are byte-swapped.
/// Throws Error naming the file on an unknown type, rank 0, missing or trailing bytes.
Array read_idx(const std::string& path);

/// The same from bytes; `name` stands for the file in messages.
Array parse_idx(const Bytes& bytes, const std::string& name);

/// True when `bytes` begin as an IDX file of a known type does.
bool is_idx(std::span<const std::byte> bytes);

}  // namespace tightloop::io
