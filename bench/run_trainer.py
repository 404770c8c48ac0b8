#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the trainer's comforts cost a step of the cases (a) to (d): the same training without and with them, in turn.

Demanded: with every callback on and each step logged, 3 % at most; with a checkpoint every second, 2 % at most.
"""
import argparse
import csv
import json
import os
import statistics
import sys
import tempfile

import machine
from cases import CASES, make_data
from ours import Ours, wall_and_memory
from table import verdict

ROOT = os.path.dirname(machine.HERE)
SECONDS = 4  # of each run

# What is watched can never end the run.
CALLBACKS = ('train.early_stopping={monitor="train_loss", patience=1000000000}', "train.nan_guard={every_steps=1000}",
             'train.stop_at={monitor="train_loss", value=-1.0}', 'train.max_time="10h"',
             "train.monitor={rate=true, throughput=true, gradient_norm=true}", "train.log_every=1",
             'train.loggers=["jsonl", "tensorboard"]')
SAVING = ("train.checkpoint={every_minutes=0.0166667}",)


def step_time(ours, case, threads, epochs, settings):
    """Microseconds a step after the first epoch, or {"error": …}."""
    with tempfile.TemporaryDirectory() as out:
        sets = [part for s in (f"train.epochs={epochs}", *settings) for part in ("--set", s)]
        done = wall_and_memory([ours.command, "train", ours.job(case.name), "--quiet", "--threads", str(threads),
                                "--out", f"{out}/run", *sets])
        if "error" in done:
            sys.exit(done["error"])
        with open(f"{out}/run/metrics.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        first, last = rows[0], rows[-1]
        return 1e6 * (float(last["seconds"]) - float(first["seconds"])) / (int(last["step"]) - int(first["step"]))


def measure(ours, case, args):
    epochs = 1 + int(SECONDS * 1e6 / step_time(ours, case, args.threads, 3, ()) / case.steps)
    ways = {"plain": (), "callbacks and logging": CALLBACKS, "checkpoints": SAVING}
    times = {name: [] for name in ways}
    for _ in range(args.rounds):
        for name, settings in ways.items():
            times[name].append(step_time(ours, case, args.threads, max(epochs, 3), settings))
    out = {"us_per_step": statistics.median(times["plain"])}
    for name in list(ways)[1:]:
        out[name] = statistics.median(b / a for a, b in zip(times["plain"], times[name])) - 1
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", help="the JSON file to write")
    args = parser.parse_args()
    data = f"{args.build}/data"
    make_data(data)
    ours = Ours(args.tightloop, data)
    results = {"machine": machine.describe(machine.compile_floor(args.build)["peak"])}
    print(f"{args.threads} thread(s), {args.rounds} rounds\n         plain, us a step   callbacks, logging   checkpoints")
    for case in CASES.values():
        r = results[case.key] = measure(ours, case, args)
        logging, saving = r["callbacks and logging"], r["checkpoints"]
        print(f"  ({case.key}) {r['us_per_step']:14.2f} {logging:+16.1%} {verdict(logging <= 0.03):>4}"
              f" {saving:+11.1%} {verdict(saving <= 0.02):>4}")
        sys.stdout.flush()
    out = args.out or f"{machine.HERE}/results/{machine.file_name(results['machine'])}-trainer.json"
    with open(out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
