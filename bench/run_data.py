#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of loading: what data cost a step when they lie in memory, how fast files are parsed and images decoded,
and what memory data larger than memory take; beside pandas, polars and PyTorch's DataLoader, in turn.

`run_data.py [resident] [gather] [csv] [images] [sparse]`; all of them without a name.
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
from cases import CASES, make_data
from data_cases import make_csv, make_sparse
from ours import Ours, wall_and_memory
from table import verdict

ROOT = os.path.dirname(machine.HERE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", choices=[*SECTIONS, []], help="all when none is named")
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--programs", default=f"{ROOT}/build/release/bench", help="where bench_data was built")
    parser.add_argument("--peers", default=os.environ.get("TIGHTLOOP_PEERS", f"{ROOT}/build/peers"))
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", help="the JSON file to write")
    return parser.parse_args()


def peer(args, *words):
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return machine.run_json([f"{args.peers}/bin/python", f"{machine.HERE}/peers/data_peer.py", *map(str, words)],
                            env=environment)


def middle(measurements, key):
    return statistics.median(m[key] for m in measurements)


def resident(args):
    """The step over shuffled rows beside the step over rows in order, which costs no more than reading them."""
    ours = Ours(args.tightloop, args.data)
    out = {}
    print("\nwhat shuffled rows of resident data cost, share of the step, one thread")
    for case in CASES.values():
        runs = {True: [], False: []}
        for _ in range(args.rounds):
            for shuffle in runs:
                runs[shuffle].append(ours.bench(case.name, 1, f"data.shuffle={str(shuffle).lower()}"))
        share = statistics.median(1 - b["us_per_step"] / a["us_per_step"] for a, b in zip(runs[True], runs[False]))
        out[case.key] = {"share": share, "us_per_step": middle(runs[True], "us_per_step")}
        print(f"  ({case.key}) {out[case.key]['us_per_step']:10.2f} us a step, {share:6.1%} of it for shuffling"
              f"  demanded: at most 5 %: {verdict(share <= 0.05)}")
    return out


def gather(args):
    print("\nrows in random order out of 512 MB, one thread")
    out = []
    for width in (16, 64, 256, 1024):
        out.append(machine.run_json([f"{args.programs}/gather", str(width)], **machine.pinned(1)))
        g = out[-1]
        print(f"  {g['row_bytes']:5} bytes a row: {g['gb_per_s']:6.2f} GB/s, by hand {g['by_hand_gb_per_s']:6.2f}"
              f"  demanded: 60 % of it; is {g['share']:.0%}: {verdict(g['share'] >= 0.6)}")
    return out


def read_csv(args):
    path = make_csv(args.data)
    size = os.path.getsize(path)
    rows = {}
    for _ in range(args.rounds):
        for threads in (1, 2):
            rows.setdefault(f"tightloop, {threads} thread(s)", []).append(
                machine.run_json([f"{args.programs}/csv", path], **machine.pinned(threads)))
        for reader in ("pandas", "polars-1", "polars-2"):
            rows.setdefault(reader, []).append(peer(args, "csv", reader, path))
    print(f"\nCSV of numbers, {size / 1e6:.0f} MB, from the page cache")
    times = {}
    for who, ms in rows.items():
        failed = next((m["error"] for m in ms if "error" in m), None)
        if failed:
            print(f"  {who:24}{failed}")
            continue
        times[who] = [m["seconds"] for m in ms]
        print(f"  {ms[0].get('version', who) if who == 'pandas' else who:24}{statistics.median(times[who]):8.3f} s"
              f"{size / statistics.median(times[who]) / 1e6:8.0f} MB/s")
    mine = times.get("tightloop, 1 thread(s)")
    for who, least in (("pandas", 2), ("polars-1", 1)):
        if mine and who in times:
            ratio = statistics.median(b / a for a, b in zip(mine, times[who]))
            print(f"  demanded: {least} times as fast as {who}; is {ratio:.2f}: {verdict(ratio >= least)}")
    return {"bytes": size, "rows": rows}


IMAGE_JOB = """
[data]
train = "{folder}"
inputs = {{ image = "image" }}
target = {{ label = "class" }}
transforms = [{{ name = "random_resized_crop", size = 224 }}, "horizontal_flip"]
batch = 64
[model]
forward = "y = {forward}"
[train]
epochs = 2
loss = "cross_entropy"
optimizer = "sgd"
"""


def train(args, job, name, **settings):
    """Trains; gives the last line of metrics.csv, the seconds and the peak memory."""
    with tempfile.TemporaryDirectory() as out:
        path = f"{args.data}/{name}.toml"
        with open(path, "w") as file:
            file.write(job)
        sets = [part for k, v in settings.items() for part in ("--set", f"{k.replace('__', '.')}={v}")]
        result = wall_and_memory([args.tightloop, "train", path, "--quiet", "--out", f"{out}/run", *sets])
        if "error" not in result:
            with open(f"{out}/run/metrics.csv") as file:
                result.update(list(csv.DictReader(file))[-1])
        return result


def images(args):
    subprocess.run([f"{args.peers}/bin/python", f"{machine.HERE}/data_cases.py", "images", args.data], check=True,
                   stdout=subprocess.DEVNULL)
    folder = f"{args.data}/jpeg"
    job = IMAGE_JOB.format(folder=folder, forward="linear(mean(image, [2, 3]), 10)")
    rows = {}
    for _ in range(args.rounds):
        for workers in ('"auto"', 0, 1, 2, 3):
            rows.setdefault(f"tightloop, {workers} workers", []).append(train(args, job, "images", data__workers=workers))
        for workers in (0, 1, 2, 3, 4):
            rows.setdefault(f"DataLoader, {workers} workers", []).append(peer(args, "images", folder, workers))
    print("\n5,000 JPEGs of 500 x 375, random resized crop 224, flip; images a second")
    rates = {}
    for who, ms in rows.items():
        failed = next((m["error"] for m in ms if "error" in m), None)
        if failed:
            print(f"  {who:28}{failed}")
            continue
        rates[who] = [float(m.get("samples_per_s") or m.get("images_per_s")) for m in ms]
        print(f"  {who:28}{statistics.median(rates[who]):8.0f}")
    theirs = [w for w in rates if w.startswith("DataLoader")]
    mine = rates.get('tightloop, "auto" workers')
    if mine and theirs:
        best = max(theirs, key=lambda w: statistics.median(rates[w]))
        ratio = statistics.median(a / b for a, b in zip(mine, rates[best]))
        print(f"  demanded: 1.5 times {best}; is {ratio:.2f}: {verdict(ratio >= 1.5)}")
    rows["waiting, %"] = waiting(args, folder)
    print(f"  beside the steps of a narrow ResNet-18, {rows['waiting, %']} % of the time went by waiting"
          f"  demanded: under 2 %: {verdict(rows['waiting, %'] < 2)}")
    return rows


def waiting(args, folder):
    """The share of the time that steps longer than the decoding wait for it, as the command says it."""
    path = f"{args.data}/images_resnet.toml"
    with open(path, "w") as file:
        file.write(IMAGE_JOB.format(folder=folder, forward="resnet18(image, classes=10, width=16)"))
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([args.tightloop, "train", path, "--out", f"{out}/run", "--set", "train.max_steps=40"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return float(re.search(r"([0-9.]+) % of the time went by waiting", done.stdout).group(1))


SPARSE_JOB = """
[data]
inputs = {{ x = "sparse_x.npy" }}
target = {{ y = "sparse_y.npy" }}
batch = 256
[model]
forward = "y = linear(x, 1)"
[train]
max_steps = 3000
loss = "mse"
""".format()


def sparse(args):
    make_sparse(args.data)
    result = train(args, SPARSE_JOB, "sparse")
    if "error" in result:
        print(f"\n20 GB NPY: {result['error']}")
        return result
    mb = result["peak_bytes"] / 1e6
    print(f"\n20 GB NPY on disk, 3,000 shuffled steps of 256 rows: {mb:.0f} MB at most"
          f"  demanded: under 300 MB: {verdict(mb < 300)}; {float(result['samples_per_s']):.0f} rows a second")
    return result


SECTIONS = {"resident": resident, "gather": gather, "csv": read_csv, "images": images, "sparse": sparse}


def main():
    args = arguments()
    args.data = f"{args.build}/data"
    args.tightloop = os.path.abspath(args.tightloop)
    make_data(args.data)
    Ours(args.tightloop, args.data)
    results = {"machine": machine.describe(machine.compile_floor(args.build)["peak"])}
    for name in args.what or SECTIONS:
        results[name] = SECTIONS[name](args)
        sys.stdout.flush()
    out = args.out or f"{machine.HERE}/results/{machine.file_name(results['machine'])}-data.json"
    with open(out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
