#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the larger nets: a training step of ours beside PyTorch's, eager and compiled, in turn.

Ratios are medians over rounds. Time to the first step is ours from an empty cache, and PyTorch's until two epochs ran.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

import machine
from networks import NETWORKS, make_data
from peer_process import Peer, installed
from table import verdict

ROOT = os.path.dirname(machine.HERE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tightloop", default=f"{ROOT}/build/release/cli/tightloop", help="the command to measure")
    parser.add_argument("--peers", default=os.environ.get("TIGHTLOOP_PEERS", f"{ROOT}/build/peers"),
                        help="the peers' Python environment")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    parser.add_argument("--eager-only", action="store_true", help="leave torch.compile out, which takes minutes")
    parser.add_argument("--build", default=f"{ROOT}/build/bench", help="for data")
    parser.add_argument("--nets", default="".join(NETWORKS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="at least this long a measurement")
    parser.add_argument("--out", help="the JSON file to write")
    return parser.parse_args()


def ours(args, network, threads, cache):
    command = [os.path.abspath(args.tightloop), "bench", f"{args.data}/{network.name}.toml", "--threads", str(threads),
               "--seconds", str(args.seconds), "--json"]
    return machine.run_json(command, env={**os.environ, "XDG_CACHE_HOME": cache}, **machine.pinned(threads))


def measure(args, network, threads):
    make_data(args.data, network)
    rows, peer = {}, None
    python = f"{args.peers}/bin/python"
    if not args.no_peers and installed(python, "torch"):
        peer = Peer(python, "torch", network.key, threads, args.data, args.seconds, args.build, "networks")
    variants = [v for v in (peer.variants if peer else []) if not (args.eager_only and v != "eager")]
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(args.rounds):
            rows.setdefault("tightloop", []).append(ours(args, network, threads, cache))
            for variant in variants:
                rows.setdefault(variant, []).append(peer.measure(variant))
    if peer:
        peer.close()
    return {"net": network.key, "threads": threads, "version": peer and peer.version, "rows": rows}


def print_result(result):
    network, rows = NETWORKS[result["net"]], result["rows"]
    print(f"\n({network.key}) {network.title}; {result['threads']} thread(s); {result['version'] or 'no peer'}")
    failed = {who: next((m["error"] for m in ms if "error" in m), None) for who, ms in rows.items()}
    times = {who: [m["us_per_step"] for m in ms] for who, ms in rows.items() if not failed[who]}
    for who, ms in rows.items():
        if failed[who]:
            print(f"  {who:20}{failed[who]}")
            continue
        line = f"  {who:20}{statistics.median(times[who]) / 1e3:10.2f} ms a step  {ms[-1]['peak_bytes'] / 2**20:8.0f} MiB"
        if who == "tightloop":
            line += f"  {ms[-1]['peak_share']:.0%} of peak; ready in {ms[0]['compile_ms'] / 1e3:.2f} s"
        else:
            ratio = "tightloop" in times and statistics.median(
                a / b for a, b in zip(times["tightloop"], times[who]))
            line += (f"  ours / it {ratio:.2f}" if ratio else "") + f"; ready in {ms[0]['ready_s']:.1f} s"
        print(line)
    peers = {who: t for who, t in times.items() if who != "tightloop"}
    if "tightloop" not in times or not peers:
        return
    best = min(peers, key=lambda who: statistics.median(peers[who]))
    ratio = statistics.median(b / a for a, b in zip(times["tightloop"], times[best]))
    print(f"  demanded: {network.demand} times as fast as {best}; is {ratio:.2f}: {verdict(ratio >= network.demand)}")
    memory = rows["tightloop"][-1]["peak_bytes"] / min(rows[who][0]["peak_bytes"] for who in peers)
    print(f"  demanded: at most 0.8 of its memory; is {memory:.2f}: {verdict(memory <= 0.8)}")
    if network.compile_s:
        cold = rows["tightloop"][0]["compile_ms"] / 1e3
        print(f"  demanded: compiled in {network.compile_s} s; is {cold:.2f}: {verdict(cold <= network.compile_s)}")


def main():
    args = arguments()
    args.data = f"{args.build}/networks"
    if not os.access(args.tightloop, os.X_OK):
        print(f"not built: {args.tightloop}")
        return 1
    results = {"machine": machine.describe(machine.compile_floor(args.build)["peak"]), "nets": []}
    for key in args.nets:
        for threads in (int(t) for t in args.threads.split(",")):
            if threads > len(os.sched_getaffinity(0)):
                continue
            results["nets"].append(measure(args, NETWORKS[key], threads))
            print_result(results["nets"][-1])
            sys.stdout.flush()
    out = args.out or f"{machine.HERE}/results/{machine.file_name(results['machine'])}-networks.json"
    with open(out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(f"\nwritten to {os.path.relpath(out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
