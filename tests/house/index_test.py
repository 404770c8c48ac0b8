#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every index (index.def) against its folder: what a file of the folder defines in the form that index.h
declares is listed, once. (An entry without a definition does not link.)"""
import pathlib
import re
import sys

ENTRY = re.compile(r"^TIGHTLOOP_\w+\((\w+)", re.M)
DECLARATION = re.compile(r"^#define TIGHTLOOP_\w+\((\w+)[^)]*\)\s+(.*\S)\(.*\);", re.M)


def definition(header):
    """The pattern of a definition, from the macro of index.h that declares an entry."""
    name, declaration = DECLARATION.search(header).groups()
    pattern = re.escape(declaration).replace(re.escape(name + "##"), r"(\w+)")
    return re.compile("^" + re.sub(rf"\b{name}\b", r"(\\w+)", pattern).replace("ir::", "(?:ir::)?") + r"\(", re.M)


def complaints(index):
    folder = index.parent
    entries = ENTRY.findall(index.read_text())
    pattern = definition((folder / "index.h").read_text())
    for entry in entries:
        if entries.count(entry) > 1:
            yield f"{index}: {entry} is listed twice"
    for path in sorted(folder.glob("*.cpp")):
        for name in pattern.findall(path.read_text()):
            if name not in entries:
                yield f"{path}: {name} is not listed in {index}"
    print(f"{index}: {len(entries)} entries, held against /{pattern.pattern}/")


def main(root):
    indexes = sorted((root / "tightloop").rglob("index.def"))
    found = [complaint for index in indexes for complaint in complaints(index)]
    print("\n".join(found))
    return 1 if found or not indexes else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
