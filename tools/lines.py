#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the lines of each room and the change against the previous commit."""
import collections
import subprocess

SOURCES = (".h", ".cpp", ".py", ".cmake", ".toml", ".md")


def git(*words):
    result = subprocess.run(["git", *words], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else ""


def room(path):
    parts = path.split("/")
    if parts[0] == "tightloop" and len(parts) > 2:
        return parts[1]
    return parts[0] if len(parts) > 1 else "(root)"


lines, files, change = collections.Counter(), collections.Counter(), collections.Counter()
for path in git("ls-files").splitlines():
    if path.endswith(SOURCES):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines[room(path)] += sum(1 for _ in file)
                files[room(path)] += 1
        except OSError:
            continue
for row in git("diff", "--no-renames", "--numstat", "HEAD~1", "HEAD").splitlines():
    added, removed, path = row.split("\t")
    if path.endswith(SOURCES) and added != "-":
        change[room(path)] += int(added) - int(removed)

print(f"{'room':<12}{'files':>7}{'lines':>8}{'change':>8}")
for name in sorted(set(lines) | set(change)):
    print(f"{name:<12}{files[name]:>7}{lines[name]:>8}{change[name]:>+8}")
print(f"{'all':<12}{sum(files.values()):>7}{sum(lines.values()):>8}{sum(change.values()):>+8}")
