#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark page is what bench/page.py makes of the results in the tree; and it says so when it is not."""
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
page = [sys.executable, str(root / "bench/page.py")]


def run(*arguments):
    return subprocess.run([*page, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


done = run("--check")
if done.returncode != 0:
    sys.exit(f"docs/benchmarks.md: {done.stdout}")
with tempfile.TemporaryDirectory() as folder:
    results, docs = pathlib.Path(folder, "results"), pathlib.Path(folder, "docs")
    results.mkdir()
    for path in (root / "bench/results").glob("*.json"):
        (results / path.name).write_text(path.read_text())
    where = ["--results", str(results), "--docs", str(docs)]
    if run(*where, "--check").returncode != 1 or run(*where).returncode != 0 or run(*where, "--check").returncode != 0:
        sys.exit("bench/page.py does not make a page that it then knows")
    changed = next(p for p in sorted(results.glob("*.json")) if "nets" in json.loads(p.read_text()))
    text = json.loads(changed.read_text())
    for measurement in text["nets"][0]["rows"]["tightloop"]:
        measurement["us_per_step"] *= 2
    changed.write_text(json.dumps(text))
    if run(*where, "--check").returncode != 1:
        sys.exit("a page of other results passes")
    for drawing in (docs / "images").glob("*.svg"):
        import xml.dom.minidom
        xml.dom.minidom.parse(str(drawing))
print("the page is what the results give")
