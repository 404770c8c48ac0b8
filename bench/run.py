#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark: one table of ours, the hand-written floor and the peers, side by side in one run.

Everything of a case is measured in turn, several rounds, and ratios are medians over the rounds, so that a machine
that is slow for a while is slow for all. See README.md.
"""
import argparse
import json
import os
import statistics
import sys
import time

import extras
import machine
import table
from cases import CASES, make_data
from ours import Ours
from peer_process import FRAMEWORKS, Peer, installed

ROOT = os.path.dirname(machine.HERE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--peers", default=os.environ.get("TIGHTLOOP_PEERS", f"{ROOT}/build/peers"),
                        help="the peers' Python environment")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data and the hand-written programs")
    parser.add_argument("--cases", default="abcd")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="at least this long a measurement of a peer")
    parser.add_argument("--scaling", action="store_true", help="step time for batch and width 1x to 64x")
    parser.add_argument("--startup", action="store_true", help="process start to the end of the first step")
    parser.add_argument("--memory", action="store_true", help="planned and measured memory of (d)")
    parser.add_argument("--out", help="the JSON file to write")
    return parser.parse_args()


def start_peers(args, case, threads):
    """A process for each installed framework and thread count, each variant built and measured once."""
    peers, first = [], {}
    for framework in FRAMEWORKS:
        if args.no_peers or not installed(f"{args.peers}/bin/python", framework):
            continue
        for t in threads:
            peer = Peer(f"{args.peers}/bin/python", framework, case.key, t, args.data, args.seconds, args.build)
            peers.append(peer)
            for variant in peer.variants:
                first[peer, variant] = peer.measure(variant)
    return peers, first


def worth_repeating(first):
    """The DataLoader, and of each framework what came within 1.4 times of its best: the rest cannot win."""
    times = {k: m["us_per_step"] for k, m in first.items() if "us_per_step" in m}
    best = {}
    for (peer, _), us in times.items():
        best[peer.framework] = min(us, best.get(peer.framework, us))
    return [(p, v) for (p, v), us in times.items() if v == "DataLoader" or us <= 1.4 * best[p.framework]]


def measure_case(args, case, programs, ours):
    threads = [t for t in (1, 2) if t <= len(os.sched_getaffinity(0))]
    peers, first = start_peers(args, case, threads)
    contenders = worth_repeating(first)
    rows = {}

    def note(row, measurement):
        rows.setdefault(row, []).append(measurement)
        time.sleep(0.05)  # lets the last one's thread pool go to sleep

    for _ in range(args.rounds):
        note(("peak", "", 0), machine.run_json([programs["peak"], str(threads[-1])]))
        for t in threads:
            note(("tightloop", "", t), ours.bench(case.name, t))
            if case.key == "a":
                floor = [programs["structured"], "300", str(t)]
                note(("written by hand", "", t), machine.run_json(floor, **machine.pinned(t)))
        for peer, variant in contenders:
            note((peer.framework, variant, peer.threads), peer.measure(variant))
    for peer in peers:
        peer.close()
    for (peer, variant), measurement in first.items():
        rows.setdefault((peer.framework, variant, peer.threads), [measurement])
    return {"case": case.key, "title": case.title, "batch": case.batch, "flops_per_step": case.flops,
            "versions": sorted({p.version for p in peers if p.version}),
            "rows": [summary(*row, measurements) for row, measurements in rows.items()]}


def summary(who, variant, threads, measurements):
    row = {"who": who, "variant": variant, "threads": threads}
    errors = [m["error"] for m in measurements if "error" in m]
    if errors:
        return {**row, "error": errors[0]}
    if who == "peak":
        return {**row, "gflops": [max(column) for column in zip(*(m["peak_gflops"] for m in measurements))]}
    row["rounds"] = [round(m["us_per_step"], 4) for m in measurements]
    row["us_per_step"] = statistics.median(row["rounds"])
    if who == "tightloop":
        row["reported"] = measurements[-1]
    return row


def main():
    args = arguments()
    args.data = f"{args.build}/data"
    programs = machine.compile_floor(args.build)
    make_data(args.data)
    ours = Ours(args.tightloop, args.data)
    results = {"machine": machine.describe(programs["peak"]), "cases": []}
    table.print_machine(results["machine"])
    chosen = {name: getattr(extras, name) for name in ("scaling", "startup", "memory") if getattr(args, name)}
    if chosen:
        for name, measure in chosen.items():
            results[name] = measure(ours)
    else:
        for key in args.cases:
            results["cases"].append(measure_case(args, CASES[key], programs, ours))
            table.print_case(results["cases"][-1])
    name = "-".join([machine.file_name(results["machine"]), *chosen])
    out = args.out or f"{machine.HERE}/results/{name}.json"
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0 if not ours.missing() else 1


if __name__ == "__main__":
    sys.exit(main())
