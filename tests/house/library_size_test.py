#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stripped shared library stays under 10 MB."""
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 10 * 1000 * 1000
with tempfile.TemporaryDirectory() as folder:
    stripped = pathlib.Path(folder) / "libtightloop.so"
    subprocess.run(["strip", "-o", str(stripped), sys.argv[1]], check=True)
    size = stripped.stat().st_size
print(f"libtightloop.so, stripped: {size / 1e6:.2f} MB of {LIMIT / 1e6:.0f} MB allowed")
sys.exit(0 if size < LIMIT else 1)
