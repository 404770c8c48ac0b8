#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/benchmarks.md and its drawings from bench/results/*.json.

    python3 bench/page.py            # writes them
    python3 bench/page.py --check    # says whether they are what the results give; exit status 1 if not
"""
import argparse
import json
import os
import statistics
import sys

import plot
from cases import CASES
from networks import NETWORKS
from peer_process import FRAMEWORKS
from table import fastest, ratio

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
INTRO = """# Benchmarks

This page is made by `python3 bench/page.py` from the measurements in `bench/results/`; nothing on it is typed by hand.
[bench/README.md](../bench/README.md) says what is measured and how: ours, and each peer at its best, in turn, each bound to as many
CPUs as it has threads; ratios are medians over rounds that were measured side by side, so that a busy machine hurts both. A **ratio**
here is the peer's time over ours: 10 means that we took a tenth of the time, below 1 that the peer was faster.

```sh norun
make bench-peers && make bench              # (a) to (d): minutes
python3 bench/run_networks.py               # (e) to (m)
python3 bench/run_data.py                   # loading
python3 bench/page.py                       # this page
```
"""


def load(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                out[name[:-len(".json")]] = json.load(file)
    return out


def machine_text(m):
    caches = ", ".join(f"{k} {v}" for k, v in m.get("caches", {}).items())
    peaks = " and ".join(f"{g:.0f}" for g in m.get("peak_gflops", []))
    return (f"{m['cpus']} CPUs that call themselves {m['says']}, with {' '.join(m['features'])}; {caches}; {m['memory_gib']} GiB"
            + (f"; f32 multiply-adds at most {peaks} GFLOP/s with 1 and 2 threads" if peaks else ""))


def heading(m):
    return f"{m['says']}, {m['cpus']} CPUs, {m['features'][-1] if m['features'] else 'no vector units'}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def times(value):
    return f"**{value:.2f}**" if value < 1 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def micros(value):
    return f"{value:.3g} µs" if value < 1000 else f"{value / 1000:.3g} ms"


# --- (a) to (d)

def small_nets(key, result):
    groups, rows, versions = [], [], set()
    for case in result["cases"]:
        best = fastest([r for r in case["rows"] if r["who"] == "tightloop"])
        if best is None:
            continue
        versions.update(case["versions"])
        title, compared = CASES[case["case"]].title, []
        for who, name in FRAMEWORKS.items():
            peers = [r for r in case["rows"] if r["who"] == who and "rounds" in r]
            loop = fastest([r for r in peers if not is_loader(r)])
            loader = fastest([r for r in peers if is_loader(r)])
            for row, label in ((loop, name), (loader, f"{name} with its loader")):
                if row is not None:
                    compared.append((label, 1 / ratio(best, row), row))
        hand = next((r for r in case["rows"] if r["who"] == "written by hand" and "rounds" in r), None)
        groups.append((f"({case['case']}) {title}", [(label, value) for label, value, _ in compared]))
        for label, value, row in compared:
            how = f"{row['variant']}, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
            rows.append([f"({case['case']}) {title}, batch {case['batch']}", micros(best["us_per_step"]), label, how,
                         micros(row["us_per_step"]), times(value)])
        if hand is not None:
            rows.append([f"({case['case']}) {title}, batch {case['batch']}", micros(best["us_per_step"]), "a loop by hand",
                         "C++ for this net alone, 1 thread", micros(hand["us_per_step"]), times(1 / ratio(best, hand))])
    drawing = plot.bars("Peer's time over ours, a training step of a small net", groups)
    text = (f"A training step of a small net in f32, Adam, the better of 1 and 2 threads for each; {', '.join(sorted(versions))}.\n\n"
            f"![Ratios of the small nets](images/{key}.svg)\n\n"
            + table(["net", "ours", "peer", "its way", "a step", "ratio"], rows))
    return text, {f"{key}.svg": drawing}


def is_loader(row):
    return row["variant"] == "DataLoader" or row["variant"].startswith("Keras fit")


# --- (e) to (m)

def larger_nets(key, result):
    groups, rows, versions = [], [], set()
    for net in sorted(result["nets"], key=lambda n: (n["net"], n["threads"])):
        network, compared = NETWORKS[net["net"]], []
        good = {who: ms for who, ms in net["rows"].items() if all("us_per_step" in m for m in ms)}
        ours = good.pop("tightloop", None)
        if not ours:
            continue
        versions.add(net["version"] or "no peer")
        for who, ms in good.items():
            value = statistics.median(b["us_per_step"] / a["us_per_step"] for a, b in zip(ours, ms))
            name = f"PyTorch {who}"
            memory = ours[-1]["peak_bytes"] / ms[0]["peak_bytes"] if ms[0].get("peak_bytes") else None
            compared.append((name, value))
            rows.append([f"({net['net']}) {network.title}", str(net["threads"]), micros(statistics.median(m["us_per_step"] for m in ours)),
                         f"{ours[-1]['peak_share']:.0%}", name, micros(statistics.median(m["us_per_step"] for m in ms)), times(value),
                         f"{memory:.2f}" if memory else "-", f"{ours[0]['compile_ms'] / 1e3:.2f} s", f"{ms[0]['ready_s']:.1f} s"])
        groups.append((f"({net['net']}) {network.name}, {net['threads']} threads", compared))
    drawing = plot.bars("Peer's time over ours, a training step of a larger net", groups)
    text = (f"A training step of a larger net in f32, Adam; {', '.join(sorted(versions))}. Memory is the most that our process held over the "
            f"peer's; ready is the time until the first step can run, from an empty cache.\n\n![Ratios of the larger nets](images/{key}.svg)\n\n"
            + table(["net", "threads", "ours", "of peak", "peer", "a step", "ratio", "memory", "ready", "its"], rows))
    return text, {f"{key}.svg": drawing}


# --- loading

def loading(_, result):
    text = ""
    if "csv" in result:
        mega = result["csv"]["bytes"] / 1e6
        rows = [[name, f"{mega / statistics.median(m['seconds'] for m in ms):.0f} MB/s",
                 ms[0].get("version", "")] for name, ms in result["csv"]["rows"].items()]
        text += f"A CSV file of {mega:.0f} MB into memory:\n\n" + table(["reader", "speed", "version"], rows) + "\n"
    if "images" in result:
        rows = [[name, f"{statistics.median(v):.0f}"] for name, v in result["images"].items() if isinstance(v, list)]
        text += "A folder of JPEGs decoded and resized, by number of workers:\n\n" + table(["loader", "images a second"], rows)
    return text, {}


# --- what tune recovers

def tuned(_, result):
    rows = [[j["job"], f"{j['by_hand']:.2f} x", f"{j['tuned']:.2f} x", f"{j['recovered']:.0%}", ", ".join(j["taken"]) or "nothing"]
            for j in result["tune"]]
    return ("Jobs that are slow on purpose: what fixing them by hand gains, what [`tightloop tune`](command.md#tune) gains, and by which moves.\n\n"
            + table(["job", "by hand", "tuned", "recovered", "moves"], rows)), {}


PARTS = {"cases": small_nets, "nets": larger_nets, "csv": loading, "tune": tuned}


def make(results):
    """The page and its drawings: name (below docs/) to text."""
    files, sections = {}, {}
    for key, result in results.items():
        for name, part in PARTS.items():
            if name in result:
                text, drawings = part(f"bench-{key}", result)
                files.update({f"images/{n}": d for n, d in drawings.items()})
                where = sections.setdefault(heading(result["machine"]), [machine_text(result["machine"]), []])
                where[1].append(text)
    page = INTRO
    for title, (machine, texts) in sections.items():
        page += f"\n## {title}\n\n{machine}.\n\n" + "\n".join(texts)
    files["benchmarks.md"] = page
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", default=f"{HERE}/results")
    parser.add_argument("--docs", default=f"{ROOT}/docs")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    args = parser.parse_args()
    stale = []
    for name, text in make(load(args.results)).items():
        path = f"{args.docs}/{name}"
        if args.check:
            if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                stale.append(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"wrote {os.path.relpath(path)}")
    for path in stale:
        print(f"{os.path.relpath(path)} is not what the results give: run python3 bench/page.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
