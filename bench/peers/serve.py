# SPDX-License-Identifier: Apache-2.0
"""What the peers share: arguments, data, timing, and answering one measurement a line.

    torch_cases.py --case a --threads 1 --data DIR            prints one JSON object: every variant, measured
    torch_cases.py --case a --threads 1 --data DIR --serve    reads a variant's name a line, prints its measurement;
                                                              sleeps in between, so peers can be interleaved

Import this before the framework: the process is bound to its CPUs first, and the frameworks size their thread pools
by them.
"""
import argparse
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import CASES, FASHION_FILES  # noqa: E402
from networks import NETWORKS  # noqa: E402

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", choices=[*CASES, *NETWORKS], required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seconds", type=float, default=0.5, help="at least this long a measurement")
    parser.add_argument("--only", help="comma-separated variants")
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[: args.threads]
    os.sched_setaffinity(0, cpus)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(args.threads)
    return args


def load(case, folder):
    """Inputs and target as float32 (labels int64) numpy arrays, whole batches only."""
    import gzip

    import numpy as np

    def npy(name):
        return np.load(f"{folder}/{case.name}_{name}.npy")[: case.steps * case.batch]

    if case.key == "a":
        return (npy("x"), npy("f")), npy("y")
    if case.key in "bc":
        return (npy("x"),), npy("y")
    images, labels = (np.frombuffer(gzip.open(f"{folder}/{name}").read(), np.uint8) for name in FASHION_FILES)
    rows = case.steps * case.batch
    x = images[16:].reshape(-1, 784)[:rows].astype(np.float32) / np.float32(255)
    return (x,), labels[8:][:rows].astype(np.int64)


class Meter:
    """Builds a variant at its first use, warms it up, then times whole epochs."""

    def __init__(self, case, variants, seconds, extras):
        self.case, self.variants, self.seconds, self.extras, self.ready = case, variants, seconds, extras, {}

    def epoch(self, variant):
        if variant not in self.ready:
            start = time.perf_counter()
            epoch = self.variants[variant]()
            for _ in range(2):
                epoch()
            self.ready[variant] = epoch, time.perf_counter() - start
        return self.ready[variant]

    def measure(self, variant):
        try:
            epoch, ready_s = self.epoch(variant)
        except Exception as error:
            return {"variant": variant, "error": f"{type(error).__name__}: {str(error)[:300]}"}
        times, start = [], time.perf_counter()
        while not times or (time.perf_counter() - start < self.seconds and len(times) < 1000):
            begin = time.perf_counter()
            loss = epoch()
            times.append((time.perf_counter() - begin) / self.case.steps * 1e6)
        return {"variant": variant, "us_per_step": statistics.median(times), "min": min(times), "epochs": len(times),
                "loss": float(loss), "ready_s": ready_s, **self.extras()}


def main(args, variants, version, extras=dict):
    """`variants`: name → function that builds a function that runs one epoch and returns its last or mean loss.
    `extras`: what else to say with each measurement."""
    if args.only:
        variants = {name: variants[name] for name in args.only.split(",")}
    meter = Meter({**CASES, **NETWORKS}[args.case], variants, args.seconds, extras)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the frameworks print must not mix with the answers

    def answer(thing):
        print(json.dumps(thing), file=out, flush=True)

    if args.serve:
        answer({"version": version, "variants": list(variants)})
        for line in sys.stdin:
            answer(meter.measure(line.strip()))
        return
    results = [meter.measure(name) for name in variants]
    answer({"case": args.case, "threads": args.threads, "version": version, "results": results})
