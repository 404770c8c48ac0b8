#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixed precision beside f32: time a step, memory, and how far the losses of the same steps lie apart.

Each type trains the same job from the same seeds. `distance` is the mean over the steps of |loss - loss in f32|, over the
mean loss in f32; `other seed` is the same between f32 and f32 from the next seed, what chance alone does.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import cases
import machine
from networks import NETWORKS, make_data
from ours import Ours

ROOT = os.path.dirname(machine.HERE)
TYPES = ("f32", "bf16", "f16")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--nets", default="di", help="(d) the Fashion-MNIST MLP, or nets of networks.py")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", help="the JSON file to write")
    return parser.parse_args()


def settings(kind):
    return ["--set", f"train.precision={{ type = \"{kind}\", force = true }}"] if kind != "f32" else []


def losses(args, job, kind, seed):
    """The loss of each step, and the accuracy on validation rows where there are any."""
    with tempfile.TemporaryDirectory() as out:
        command = [args.tightloop, "train", job, "--quiet", "--out", f"{out}/run", "--threads", str(args.threads),
                   "--set", f"seed={seed}", "--set", f"train.max_steps={args.steps}", "--set", "train.epochs=1000000",
                   "--set", "train.log_every=1", "--set", 'train.loggers=["jsonl"]', *settings(kind)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(f"{out}/run/metrics.jsonl") as file:
            lines = [json.loads(line) for line in file]
    steps = [line["loss"] for line in lines if line.get("type", "step") == "step" and "loss" in line]
    accuracy = [line["accuracy"] for line in lines if "accuracy" in line]
    return steps, accuracy[-1] if accuracy else None


def distance(a, b):
    return statistics.fmean(abs(x - y) for x, y in zip(a, b)) / statistics.fmean(abs(y) for y in b)


def measure(args, job, name):
    runs = {kind: [losses(args, job, kind, seed) for seed in range(1, args.seeds + 1)] for kind in TYPES}
    exact = [steps for steps, _ in runs["f32"]]
    chance = [distance(a, b) for a, b in zip(exact, exact[1:] + exact[:1])] if args.seeds > 1 else []
    rows = {}
    for kind in TYPES:
        command = [os.path.abspath(args.tightloop), "bench", job, "--threads", str(args.threads), "--json", *settings(kind)]
        speed = machine.run_json(command, **machine.pinned(args.threads))
        rows[kind] = {
            "us_per_step": speed["us_per_step"], "peak_bytes": speed["peak_bytes"],
            "distance": max(distance(steps, e) for (steps, _), e in zip(runs[kind], exact)),
            "last_loss": statistics.fmean(steps[-1] for steps, _ in runs[kind]),
            "accuracy": [a for _, a in runs[kind] if a is not None],
        }
    print(f"\n({name}) {args.steps} steps, {args.seeds} seeds, {args.threads} thread(s)"
          + (f"; another seed's losses lie {statistics.fmean(chance):.1%} away" if chance else ""))
    for kind, row in rows.items():
        accuracy = row["accuracy"]
        print(f"  {kind:5}{row['us_per_step'] / 1e3:9.2f} ms a step ({row['us_per_step'] / rows['f32']['us_per_step']:.2f} x f32)"
              f"{row['peak_bytes'] / 2**20:8.0f} MiB ({row['peak_bytes'] / rows['f32']['peak_bytes']:.2f} x)"
              f"  distance {row['distance']:.2%}  last loss {row['last_loss']:.4f}"
              + (f"  accuracy {statistics.fmean(accuracy):.4f} ± {statistics.pstdev(accuracy):.4f}" if accuracy else ""))
    return {"net": name, "steps": args.steps, "seeds": args.seeds, "threads": args.threads, "rows": rows, "chance": chance}


def job_of(args, key):
    if key == "d":
        data = f"{args.build}/data"
        cases.make_data(data)
        return Ours(args.tightloop, data).job("fashion")
    os.makedirs(f"{args.build}/networks", exist_ok=True)
    make_data(f"{args.build}/networks", NETWORKS[key])
    return f"{args.build}/networks/{NETWORKS[key].name}.toml"


def main():
    args = arguments()
    if not os.access(args.tightloop, os.X_OK):
        print(f"not built: {args.tightloop}")
        return 1
    results = {"machine": machine.describe(machine.compile_floor(args.build)["peak"]), "nets": []}
    for key in args.nets:
        results["nets"].append(measure(args, job_of(args, key), key))
        sys.stdout.flush()
    out = args.out or f"{machine.HERE}/results/{machine.file_name(results['machine'])}-precision.json"
    with open(out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
