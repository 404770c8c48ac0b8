#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a training by SIGKILL at random moments, goes on with it, and compares what it ends with, bit for bit, with
the training that nobody killed. Every checkpoint that a kill leaves must load.

    tools/kill_runs.py build/release/cli/tightloop --kills 200

A run is killed up to five times, then finishes; runs follow each other until there were so many kills. Exit status 1
when anything differs."""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

JOB = """seed = 3
[data]
train = "train.csv"
inputs = { x = "x*", f = "f" }
target = { y = "y" }
validation = 0.25
batch = 8
[model]
forward = '''
h = dropout(relu(batch_norm(linear(x, 16))), p=0.2)
y = linear(h, 1) + linear(f, 1)
'''
[train]
epochs = 60
loss = "mse"
optimizer = { name = "adamw", lr = 0.02 }
schedule = [{ name = "linear", steps = 10, every = "step" }, "cosine"]
accumulate = 2
clip = 1.0
ema = 0.9
early_stopping = 2000
checkpoint = { every_steps = 7, keep = 3 }
"""


def table():
    lines = ["x0,x1,f,y"]
    for i in range(60):
        a, b, f = (i * 37 % 41) / 20 - 1, (i * 17 % 29) / 14 - 1, (i * 11 % 23) / 11 - 1
        lines.append(f"{a:.6f},{b:.6f},{f:.6f},{a - 2 * b + 3 * f:.6f}")
    return "\n".join(lines) + "\n"


class Runs:
    def __init__(self, command, folder, seed):
        self.command, self.folder, self.draw = command, folder, random.Random(seed)
        self.resumed = 0
        (folder / "train.csv").write_text(table())
        (folder / "job.toml").write_text(JOB)

    def start(self, out, *more):
        return subprocess.Popen([self.command, "train", "job.toml", "--quiet", "--out", out, *more], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self, out, *more):
        process = self.start(out, *more)
        said = process.communicate()[0]
        if process.returncode != 0:
            raise RuntimeError(f"exit status {process.returncode}: {said}")

    def bytes_of(self, out):
        return (self.folder / out / "model.safetensors").read_bytes()

    def newest(self, out):
        found = sorted((self.folder / out / "checkpoints").glob("step-*.safetensors"))
        return found[-1].name if found else ""

    def resume(self, out):
        """The option, where there is a checkpoint to go on from; counts how often."""
        found = bool(self.newest(out))
        self.resumed += found
        return ["--resume"] if found else []

    def kill_once(self, out, longest):
        """False when the run ended before it was killed."""
        process = self.start(out, *self.resume(out))
        time.sleep(self.draw.uniform(0.02, longest))
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[0]
        if process.returncode == 0:
            return False
        if process.returncode != -signal.SIGKILL:
            raise RuntimeError(f"exit status {process.returncode}: {said}")
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(arguments.command, pathlib.Path(name), arguments.seed)
        began = time.time()
        runs.finish("whole")
        longest = time.time() - began
        whole, kills, ended, number = runs.bytes_of("whole"), 0, 0, 0
        while kills < arguments.kills:
            out = f"run{number}"
            number += 1
            for _ in range(5):
                if kills == arguments.kills or not runs.kill_once(out, longest):
                    break
                kills += 1
            finished = (runs.folder / out / "model.safetensors").exists()
            if not finished:
                runs.finish(out, *runs.resume(out))
            ended += 1
            if runs.bytes_of(out) != whole:
                print(f"{out}: the weights differ from those of the run that nobody killed")
                return 1
        print(f"{kills} kills in {ended} runs, which went on from a checkpoint {runs.resumed} times; all weights "
              "are the same")
    return 0


sys.exit(main())
