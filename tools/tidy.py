#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py BUILD [FILES]: clang-tidy over FILES, or over the sources that the last commit changed, for at most
TIGHTLOOP_TIDY_SECONDS (300). Prints all findings; fails on those that .clang-tidy counts as errors."""
import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1])
limit = time.monotonic() + float(os.environ.get("TIGHTLOOP_TIDY_SECONDS", "300"))


def changed():
    command = ["git", "-C", root, "diff", "--name-only", "--diff-filter=d", "HEAD~1"]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout.split() if result.returncode == 0 else []


def tidy(path):
    if time.monotonic() > limit:
        return path, None, ""
    result = subprocess.run(["clang-tidy", "-quiet", "-p", build, root / path], capture_output=True, text=True)
    return path, result.returncode == 0, result.stdout


known = {os.path.relpath(entry["file"], root) for entry in json.load(open(build / "compile_commands.json"))}
paths = [p for p in (sys.argv[2:] or changed()) if p.endswith(".cpp") and p in known]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(tidy, paths))
for path, clean, text in results:
    if text.strip():
        print(text.strip())
skipped = sum(clean is None for _, clean, _ in results)
print(f"clang-tidy: {len(paths) - skipped} files read, {skipped} left out for time")
sys.exit(1 if any(clean is False for _, clean, _ in results) else 0)
