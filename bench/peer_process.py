# SPDX-License-Identifier: Apache-2.0
"""One framework in a process of its own that sleeps until it is asked to measure (see peers/serve.py)."""
import json
import os
import select
import subprocess

from machine import HERE

FRAMEWORKS = {"torch": "PyTorch", "jax": "JAX", "tf": "TensorFlow"}
MODULES = {"torch": "torch", "jax": "jax", "tf": "tensorflow"}

PATIENCE = 600  # seconds: the longest a variant may take to compile


def installed(python, framework):
    if not os.access(python, os.X_OK):
        return False
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec('{MODULES[framework]}') is None)"
    return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


class Peer:
    def __init__(self, python, framework, case, threads, data, seconds, cache, script="cases"):
        environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        environment.update(TORCHINDUCTOR_CACHE_DIR=f"{cache}/inductor", PYTHONDONTWRITEBYTECODE="1")
        self.framework, self.threads = framework, threads
        self.process = subprocess.Popen(
            [python, f"{HERE}/peers/{framework}_{script}.py", "--case", case, "--threads", str(threads), "--data", data,
             "--seconds", str(seconds), "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        hello = self.answer()
        self.version, self.variants = hello.get("version"), hello.get("variants", [])

    def answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            return {"error": f"no answer in {PATIENCE} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"{FRAMEWORKS[self.framework]} ended unexpectedly"}

    def measure(self, variant):
        try:
            print(variant, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return {"error": f"{FRAMEWORKS[self.framework]} has ended"}
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
