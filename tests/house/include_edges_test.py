#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include below tightloop/ and cli/ and fails on an edge that the table of rooms forbids."""
import pathlib
import re
import sys

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    parts = path.split("/")
    if parts[0] == "cli":
        return "cli"
    return parts[1] if len(parts) > 2 else None


def complaints(path, text):
    room = room_of(path)
    for bracket, target in INCLUDE.findall(text):
        if bracket == '"' and room != "cli":
            yield f'{path}: "{target}": write #include <tightloop/...> in full'
        for start, folders in rooms.OUTSIDE.items():
            if target.startswith(start) and not any(path.startswith(f + "/") for f in folders):
                yield f"{path}: <{target}>: only {', '.join(folders)} may include {start}"
        if rooms.is_public(path) and any(target.startswith(s) for s in rooms.NOT_IN_PUBLIC_HEADERS):
            yield f"{path}: <{target}>: not in a public header; move it to a .cpp"
        if rooms.is_public(path) and target.startswith("tightloop/backends/cpu/"):
            yield f"{path}: <{target}>: not in a public header, it is not installed"
        other = target.split("/")[1] if target.startswith("tightloop/") and target.count("/") > 1 else None
        if other and room and other != room and other not in rooms.SEES[room]:
            yield f"{path}: <{target}>: {room} may see {', '.join(sorted(rooms.SEES[room])) or 'no other room'}"
        if target.startswith("tightloop/tightloop.h") and room != "cli":
            yield f"{path}: <{target}>: the umbrella header is for users"


def self_test():
    """The checker must object to what the table forbids."""
    assert list(complaints("tightloop/ir/a.h", "#include <tightloop/ops/b.h>\n"))
    assert list(complaints("tightloop/nn/a.cpp", "#include <tightloop/passes/b.h>\n"))
    assert list(complaints("tightloop/engine/a.h", "#  include <llvm/IR/Module.h>\n"))
    assert list(complaints("tightloop/train/a.h", "#include <fmt/format.h>\n"))
    assert list(complaints("tightloop/nn/a.cpp", '#include "b.h"\n'))
    assert not list(complaints("tightloop/nn/a.cpp", "#include <tightloop/ops/b.h>\n#include <fmt/format.h>\n"))


def main(root):
    self_test()
    files = [f for folder in ("tightloop", "cli") for ext in ("h", "cpp") for f in (root / folder).rglob(f"*.{ext}")]
    found = [c for f in sorted(files) for c in complaints(str(f.relative_to(root)), f.read_text())]
    print("\n".join(found) or f"{len(files)} files, every include allowed")
    return 1 if found or not files else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
