// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tightloop::io {

/// Writes one message in the wire format of protocol buffers (protobuf.dev/programming-guides/encoding),
/// field by field; `field` is the field's number.
class ProtoMessage {
 public:
  ProtoMessage& whole(int field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtoMessage& flag(int field, bool value) { return whole(field, value ? 1 : 0); }
  ProtoMessage& number(int field, double value) {
    tag(field, 1);
    fixed(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  ProtoMessage& small_number(int field, float value) {
    tag(field, 5);
    fixed(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  ProtoMessage& text(int field, std::string_view bytes) {
    tag(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtoMessage& message(int field, const ProtoMessage& inner) { return text(field, inner.bytes_); }
  /// A packed list of doubles.
  ProtoMessage& numbers(int field, std::span<const double> values) {
    tag(field, 2);
    varint(8 * values.size());
    for (const double v : values) fixed(std::bit_cast<std::uint64_t>(v), 8);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(int field, unsigned wire) { varint((static_cast<std::uint64_t>(field) << 3) | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void fixed(std::uint64_t bits, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(bits >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace tightloop::io
