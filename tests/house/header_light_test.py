#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's file that includes <tightloop/tightloop.h> and nothing else: no outside library is reached, and the time
that compiling it takes is printed."""
import pathlib
import subprocess
import sys
import tempfile
import time

import rooms

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
forbidden = [f"/{name}" if name.endswith(".h") else f"/{name.rstrip('/')}/" for name in rooms.OUTSIDE]
forbidden += ["/iostream", "/regex"]

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "user.cpp"
    source.write_text("#include <tightloop/tightloop.h>\nint main() {}\n")
    flags = [compiler, "-std=c++20", f"-I{root}", str(source)]
    reached = subprocess.run([*flags, "-M"], capture_output=True, text=True, check=True).stdout.split()
    bad = [path for path in reached if path.endswith(tuple(f for f in forbidden if not f.endswith("/")))
           or any(f in path for f in forbidden if f.endswith("/"))]
    seconds = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([*flags, "-c", "-o", f"{folder}/user.o"], check=True)
        seconds.append(time.monotonic() - start)

print(f"<tightloop/tightloop.h> reaches {len(reached)} headers and compiles in {min(seconds):.2f} s")
for path in bad:
    print(f"reached from a public header: {path}")
sys.exit(1 if bad else 0)
