# SPDX-License-Identifier: Apache-2.0
"""A small reader of TensorBoard's event files that shares nothing with the writer: records with their checksums, and
messages by field numbers. message(bytes) gives {field number: [values]}; bytes stay bytes."""
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17 & 0xFFFFFFFF)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        header = data[at:at + 12]
        length, check = struct.unpack("<QI", header)
        assert check == masked(header[:8]), f"the length at byte {at} has another checksum"
        body = data[at + 12:at + 12 + length]
        assert len(body) == length, f"the record at byte {at} is cut short"
        (check,) = struct.unpack("<I", data[at + 12 + length:at + 16 + length])
        assert check == masked(body), f"the record at byte {at} has another checksum"
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def message(data):
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            raise ValueError(f"wire type {kind}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def doubles(data):
    return struct.unpack(f"<{len(data) // 8}d", data)


def events(path):
    """(time, step, event) of each."""
    for record in records(path.read_bytes()):
        event = message(record)
        yield event[1][0], event.get(2, [0])[0], event


def summary_values(path):
    """(step, tag, value message) of each value of each summary."""
    for _, step, event in events(path):
        for summary in event.get(5, []):
            for value in message(summary).get(1, []):
                fields = message(value)
                yield step, fields[1][0].decode(), fields
