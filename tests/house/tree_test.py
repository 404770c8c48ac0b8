#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small rules of the tree: each room has a README of at most 20 lines, examples have at most 60, and every source
starts with its licence line."""
import pathlib
import sys

import rooms

root = pathlib.Path(sys.argv[1])
found = []


def lines(path):
    return len(path.read_text().splitlines())


for room in rooms.SEES:
    readme = root / ("cli" if room == "cli" else f"tightloop/{room}") / "README.md"
    if not readme.exists():
        found.append(f"{readme.relative_to(root)} is missing")
    elif lines(readme) > 20:
        found.append(f"{readme.relative_to(root)} has {lines(readme)} lines; a room's README has at most 20")

for example in sorted((root / "examples").rglob("*")):
    if example.suffix in (".cpp", ".toml") and lines(example) > 60:
        found.append(f"{example.relative_to(root)} has {lines(example)} lines; an example has at most 60")

sources = [p for d in ("tightloop", "cli", "tests", "bench", "examples") for p in (root / d).rglob("*")
           if p.suffix in (".h", ".cpp")]
for source in sorted(sources):
    if "SPDX-License-Identifier: Apache-2.0" not in source.read_text()[:200]:
        found.append(f"{source.relative_to(root)} does not start with its SPDX line")

print("\n".join(found) or f"{len(sources)} sources and {len(rooms.SEES)} rooms in order")
sys.exit(1 if found else 0)
