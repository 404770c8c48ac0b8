# SPDX-License-Identifier: Apache-2.0
"""Runs the `tightloop` command for the benchmark."""
import os
import shutil
import subprocess
import tempfile
import time

from machine import HERE, pinned, run_json


class Ours:
    def __init__(self, command, data):
        self.command, self.data = os.path.abspath(command), data
        for job in os.listdir(f"{HERE}/jobs"):
            shutil.copy(f"{HERE}/jobs/{job}", f"{data}/{job}")

    def job(self, name):
        return f"{self.data}/{name}.toml"

    def missing(self):
        return None if os.access(self.command, os.X_OK) else f"not built: {self.command}"

    def bench(self, name, threads, *settings):
        """One `tightloop bench`: its JSON object, or {"error": …}."""
        if self.missing():
            return {"error": self.missing()}
        options = [part for s in settings for part in ("--set", s)]
        return run_json([self.command, "bench", self.job(name), "--threads", str(threads), "--json", *options],
                        **pinned(threads))

    def train_steps(self, name, steps, cache, threads=1):
        """Wall seconds and peak resident bytes of one `tightloop train` of so many steps, process start to end."""
        with tempfile.TemporaryDirectory() as out:
            command = [self.command, "train", self.job(name), "--quiet", "--threads", str(threads), "--out",
                       f"{out}/run", "--set", f"train.max_steps={steps}"]
            return wall_and_memory(command, {"XDG_CACHE_HOME": cache})


def wall_and_memory(command, environment=None):
    with tempfile.TemporaryFile() as messages:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            lines = messages.read().decode(errors="replace").strip().splitlines() or ["failed silently"]
            return {"error": lines[-1][:300]}
    return {"seconds": wall, "peak_bytes": usage.ru_maxrss * 1024}
