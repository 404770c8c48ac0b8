# SPDX-License-Identifier: Apache-2.0
"""Reads PNG files of eight bits a channel without interlacing (RFC 2083), as browsers write screenshots."""
import struct
import zlib

CHANNELS = {2: 3, 6: 4}  # colour type -> samples of a pixel


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfiltered(kind, line, above, step):
    out = bytearray(line)
    if kind == 2:
        return bytearray((x + b) & 255 for x, b in zip(line, above))
    for i in range(len(out) if kind else 0):
        a = out[i - step] if i >= step else 0
        b, c = above[i], above[i - step] if i >= step else 0
        out[i] = (out[i] + {1: a, 3: (a + b) // 2, 4: paeth(a, b, c)}[kind]) & 255
    return out


def read(path):
    """Width, height and rows, each a list of (red, green, blue)."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    at, packed, head = 8, b"", None
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + size]
        head = struct.unpack(">IIBBBBB", chunk) if name == b"IHDR" else head
        packed += chunk if name == b"IDAT" else b""
        at += 12 + size
    width, height, depth, colours, _, _, interlaced = head
    assert depth == 8 and colours in CHANNELS and not interlaced, f"{path}: unknown kind of PNG"
    step, raw = CHANNELS[colours], zlib.decompress(packed)
    rows, above = [], bytearray(width * step)
    for y in range(height):
        first = y * (width * step + 1)
        above = unfiltered(raw[first], raw[first + 1:first + 1 + width * step], above, step)
        rows.append([tuple(above[x:x + 3]) for x in range(0, width * step, step)])
    return width, height, rows
