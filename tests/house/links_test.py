#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link between documents leads somewhere, and every page of docs/ can be reached from the README."""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
root = pathlib.Path(sys.argv[1]).resolve()
found, reached, waiting = [], set(), [root / "README.md"]
while waiting:
    page = waiting.pop()
    if page in reached:
        continue
    reached.add(page)
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for link in LINK.findall(prose):
        target = (page.parent / link).resolve()
        if "://" in link:
            continue
        if not target.exists():
            found.append(f"{page.relative_to(root)}: {link} does not exist")
        elif target.suffix == ".md":
            waiting.append(target)

found += [f"{page.relative_to(root)} is linked from nowhere" for page in sorted((root / "docs").glob("*.md"))
          if page not in reached]
print("\n".join(found) or f"{len(reached)} pages linked")
sys.exit(1 if found else 0)
