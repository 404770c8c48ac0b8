#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the profiler costs a step of the cases (a) to (d): the same training without it, with it at rest, and traced, in turn.

Demanded: at rest nothing beyond noise; traced 3 % at most where a step takes 100 us or more.
"""
import argparse
import os
import statistics
import sys

import machine
from cases import CASES, make_data
from ours import Ours
from run_trainer import SECONDS, step_time
from table import verdict

ROOT = os.path.dirname(machine.HERE)
WAYS = {"plain": (), "at rest": ("train.profile={skip_first=1000000000}",),
        "traced": ("train.profile={active=1000000000}",)}


def measure(ours, case, args):
    epochs = max(3, 1 + int(SECONDS * 1e6 / step_time(ours, case, args.threads, 3, ()) / case.steps))
    times = {name: [] for name in WAYS}
    for _ in range(args.rounds):
        for name, settings in WAYS.items():
            times[name].append(step_time(ours, case, args.threads, epochs, settings))
    cost = {name: statistics.median(b / a for a, b in zip(times["plain"], times[name])) - 1 for name in WAYS}
    return statistics.median(times["plain"]), cost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    data = f"{args.build}/data"
    make_data(data)
    ours = Ours(args.tightloop, data)
    print(f"{args.threads} thread(s), {args.rounds} rounds\n         plain, us a step   at rest        traced")
    for case in CASES.values():
        plain, cost = measure(ours, case, args)
        traced = verdict(cost["traced"] <= 0.03) if plain >= 100 else ""
        print(f"  ({case.key}) {plain:14.2f} {cost['at rest']:+10.1%} {verdict(cost['at rest'] <= 0.01):>4}"
              f" {cost['traced']:+10.1%} {traced:>4}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
