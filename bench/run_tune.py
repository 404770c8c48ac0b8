#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tightloop tune` recovers of the gain that fixing slow jobs by hand gives (tune_jobs.py).

Each job, the job fixed by hand and the tuned one are trained in turn; what counts is the time for the same number of
samples. Demanded: of the time that fixing by hand saves, tune saves 80 %; on the good job it finds nothing.
"""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import machine
from table import verdict
from tune_jobs import JOBS, make_jobs

ROOT = os.path.dirname(machine.HERE)


def seconds_per_sample(args, job, text_file, settings):
    """From the first epoch's end to the last one's."""
    sets = [f"train.epochs=1000000", f"train.max_time={args.seconds}", *settings]
    with tempfile.TemporaryDirectory() as folder:
        command = [args.tightloop, "train", text_file, "--quiet", "--out", f"{folder}/run",
                   *(part for s in sets for part in ("--set", s)), "--set", "output.report=false"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=args.data)
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1]}
        with open(f"{folder}/run/metrics.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(f"{folder}/run/job.toml", encoding="utf-8") as file:
            text = file.read()
    batch = int(re.search(r"^batch = (\d+)", text, re.M).group(1))
    full = rows[:-1] if len(rows) > 2 else rows  # the last may be cut
    if len(full) < 2:
        return {"error": f"an epoch takes more than {args.seconds / 2} s"}
    steps = int(full[-1]["step"]) - int(full[0]["step"])
    samples = steps * batch if "limit_batches" in text else (len(full) - 1) * job.rows
    return {"value": (float(full[-1]["seconds"]) - float(full[0]["seconds"])) / samples}


def tune(args, job, file):
    command = [args.tightloop, "tune", file, "--time", str(int(job.seconds * args.scale)), "--json", "--force"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=args.data)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip().splitlines()[-1]}


def measure(args, job):
    file = job.name.replace(" ", "_") + ".toml"
    found = tune(args, job, file)
    if "error" in found:
        return found
    ways = {"slow": (file, ()), "by hand": (file, job.by_hand), "tuned": ("tuned.toml" if found["taken"] else file, ())}
    times = {name: [] for name in ways}
    for _ in range(args.rounds):
        for name, (text, settings) in ways.items():
            got = seconds_per_sample(args, job, text, settings)
            if "error" in got:
                return {"error": f"{name}: {got['error']}"}
            times[name].append(got["value"])
    slow, hand, tuned = (statistics.median(times[name]) for name in ways)
    return {"job": job.name, "by_hand": slow / hand, "tuned": slow / tuned,
            "recovered": (slow - tuned) / (slow - hand) if job.by_hand and slow > hand else 1.0,
            "taken": [m["move"] for m in found["moves"] if m["taken"]], "said": found["ending"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--jobs", help="names, separated by commas")
    parser.add_argument("--seconds", type=float, default=4, help="of each training")
    parser.add_argument("--scale", type=float, default=1, help="of the time that tune gets")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="the JSON file to write")
    args = parser.parse_args()
    args.tightloop, args.data = os.path.abspath(args.tightloop), f"{args.build}/tune"
    make_jobs(args.data)
    results = {"machine": machine.describe(machine.compile_floor(args.build)["peak"]), "tune": []}
    for job in JOBS:
        if args.jobs and job.name not in args.jobs.split(","):
            continue
        r = measure(args, job)
        if "error" in r:
            print(f"  {job.name:12}{r['error']}")
            continue
        results["tune"].append(r)
        good = not r["taken"] if not job.by_hand else r["recovered"] >= 0.8
        print(f"  {job.name:12}{job.cause}: by hand {r['by_hand']:.2f} x, tuned {r['tuned']:.2f} x ({', '.join(r['taken']) or 'nothing'}); "
              f"recovered {r['recovered']:.0%}: {verdict(good)}")
        sys.stdout.flush()
    out = args.out or f"{machine.HERE}/results/{machine.file_name(results['machine'])}-tune.json"
    with open(out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
