#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what a document says. In each Markdown file, in order and in one empty folder:
```LANG file=NAME  writes the block to NAME;
```sh            runs the block with the built command on PATH and must succeed;
```sh fails      must exit with 2, the code of a user's mistake;
```sh norun      is left alone (it installs packages, or takes long).
The compiler finds the library without flags, so that `g++ -std=c++20 a.cpp -ltightloop` works."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)([^\n`]*)\n(.*?)^```\s*$", re.M | re.S)
EXPECTED = {"": 0, "fails": 2}


def environment(root, build):
    env = dict(os.environ)
    env["PATH"] = f"{build}/cli:{env['PATH']}"
    for name, folder in (("CPLUS_INCLUDE_PATH", root), ("LIBRARY_PATH", build), ("LD_LIBRARY_PATH", build)):
        env[name] = f"{folder}:{env[name]}" if env.get(name) else str(folder)
    return env


def run_document(path, env, folder):
    count = 0
    for language, words, text in BLOCK.findall(path.read_text()):
        words = words.split()
        name = next((w[len("file="):] for w in words if w.startswith("file=")), None)
        if name:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        if language != "sh" or "norun" in words:
            continue
        count += 1
        expected = EXPECTED["fails" if "fails" in words else ""]
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != expected:
            print(f"{path}: this block exited with {result.returncode}, not {expected}:\n{text}\n{result.stdout}")
            sys.exit(1)
    return count


def main(root, build):
    env = environment(root, build)
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "examples").symlink_to(root / "examples")
            count = run_document(path, env, folder)
            print(f"{path.relative_to(root)}: {count} command blocks ran")


main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
