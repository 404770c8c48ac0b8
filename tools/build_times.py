#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_times.py BUILD: the slowest steps of the last build, from ninja's log."""
import sys

steps = {}
with open(f"{sys.argv[1]}/.ninja_log", encoding="utf-8") as log:
    for row in log.read().splitlines()[1:]:
        start, end, _, output, _ = row.split("\t")
        steps[output] = (int(end) - int(start)) / 1000
print(f"{len(steps)} build steps, {sum(steps.values()):.0f} s of processor time; the slowest:")
for output, seconds in sorted(steps.items(), key=lambda s: -s[1])[:10]:
    print(f"{seconds:8.1f} s  {output}")
