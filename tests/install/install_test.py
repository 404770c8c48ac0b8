#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into an empty folder, then configures, builds and runs another project that finds it with
find_package(tightloop)."""
import pathlib
import subprocess
import sys
import tempfile

build, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
consumer = pathlib.Path(__file__).parent / "consumer"


def run(*command):
    result = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


with tempfile.TemporaryDirectory() as folder:
    prefix, work = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "build"
    run("cmake", "--install", build, "--prefix", prefix)
    run("cmake", "-S", consumer, "-B", work, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", work)
    print(run(work / "consumer"), end="")
    command = prefix / "bin" / "tightloop"
    if command.exists():
        print(run(command, "--version"), end="")
