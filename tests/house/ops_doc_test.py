#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/ops.md is what tools/ops_doc.cpp prints from the library's own lists."""
import difflib
import pathlib
import subprocess
import sys

program, page = sys.argv[1], pathlib.Path(sys.argv[2])
printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
difference = list(difflib.unified_diff(page.read_text().splitlines(), printed, str(page), program, lineterm="", n=0))
print("\n".join(difference) or f"{page} is up to date")
if difference:
    sys.exit(f"write it anew: {program} > {page}")
