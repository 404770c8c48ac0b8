#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds each room's index against its folder: what a file of the room defines, the index lists."""
import pathlib
import re
import sys

# folder, its index, and how a definition that must be listed looks (the group is its name)
INDEXES = [
    ("tightloop/ops", "tightloop/ops/index.def", r"^const ir::OpDef& (\w+)_op\(\)"),
]


def main(root):
    found = []
    for folder, index, definition in INDEXES:
        listed = set(re.findall(r"\w+", (root / index).read_text()))
        names = {name: path for path in sorted((root / folder).glob("*.cpp")) if path != root / index
                 for name in re.findall(definition, path.read_text(), re.M)}
        found += [f"{path.relative_to(root)}: {name} is not listed in {index}"
                  for name, path in names.items() if name not in listed]
        if not names:
            found.append(f"{folder}: nothing found to hold against {index}")
        print(f"{index}: {len(names)} entries")
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
