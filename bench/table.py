# SPDX-License-Identifier: Apache-2.0
"""Prints the benchmark's tables, with each ratio beside what is demanded."""
import statistics

from cases import CASES
from peer_process import FRAMEWORKS


def print_machine(machine):
    caches = ", ".join(f"{k} {v}" for k, v in machine["caches"].items())
    print(f"machine: {machine['cpus']} CPUs with {' '.join(machine['features'])} (calls itself {machine['says']}), "
          f"{caches}, {machine['memory_gib']} GiB")
    if "error" in machine:
        print(f"peak: {machine['error']}")
        return
    peaks = ", ".join(f"{t + 1}: {g:.0f}" for t, g in enumerate(machine["peak_gflops"]))
    reads = ", ".join(f"{size} {gb[0]:.0f}" for size, gb in machine["read_gbytes_per_s"].items())
    print(f"f32 multiply-add peak by threads, GFLOP/s: {peaks}; reading with one thread, GB/s: {reads}")


def ratio(ours, other):
    """Median over the rounds of ours / other, measured side by side."""
    pairs = list(zip(ours["rounds"], other["rounds"]))
    return statistics.median(a / b for a, b in pairs)


def fastest(rows):
    rows = [r for r in rows if "us_per_step" in r]
    return min(rows, key=lambda r: r["us_per_step"], default=None)


def verdict(good):
    return "yes" if good else "NO"


def print_case(result):
    case, rows = CASES[result["case"]], result["rows"]
    print(f"\n({case.key}) {case.title}, batch {case.batch}, f32, {case.flops / 1e6:.2f} MFLOP a step"
          + "".join(f"; {v}" for v in result["versions"]))
    ours = [r for r in rows if r["who"] == "tightloop"]
    best = fastest(ours)
    peak = next(r for r in rows if r["who"] == "peak")
    print(f"  {'':54}{'µs a step':>10}  {'ours / it':>10}  share of peak")
    for row in ours:
        line(row, None, f"{share(case, row, peak):.0%}" if "us_per_step" in row else "")
    for row in sorted(rows, key=lambda r: (list(FRAMEWORKS).index(r["who"]) if r["who"] in FRAMEWORKS else -1,
                                           r.get("us_per_step", 1e9))):
        if row["who"] not in ("tightloop", "peak"):
            line(row, best and "us_per_step" in row and ratio(best, row), "")
    present = {r["who"] for r in rows}
    for framework, title in FRAMEWORKS.items():
        if framework not in present:
            print(f"  {title:54}not installed (make bench-peers)")
    print_demands(case, rows, ours, best, peak)


def share(case, row, peak):
    return case.flops / row["us_per_step"] * 1e-3 / peak["gflops"][row["threads"] - 1]


def line(row, against_ours, note):
    who = FRAMEWORKS.get(row["who"], row["who"])
    label = f"{who} {row['variant']}".strip() + f", {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
    if "error" in row:
        print(f"  {label:54}{row['error']}")
        return
    times = "" if not against_ours else f"1/{1 / against_ours:.1f}" if against_ours < 1 else f"{against_ours:.2f}"
    print(f"  {label:54}{row['us_per_step']:>10.2f}  {times:>10}  {note}".rstrip())


def print_demands(case, rows, ours, best, peak):
    if best is None:
        return
    demand, by_who = case.demand, {}
    for row in rows:
        by_who.setdefault(row["who"], []).append(row)
    fastest_peer = fastest([r for f in FRAMEWORKS for r in by_who.get(f, [])])
    loader = fastest([r for r in by_who.get("torch", []) if r["variant"] == "DataLoader"])
    for name, other in (("peer", fastest_peer), ("loader", loader)):
        if name in demand and other:
            r, title = ratio(best, other), {"peer": "fastest peer", "loader": "PyTorch with its DataLoader"}[name]
            print(f"  demanded: at most 1/{demand[name]} of {title}; is 1/{1 / r:.1f}: "
                  f"{verdict(r * demand[name] <= 1)}")
    floor = next((r for r in by_who.get("written by hand", []) if "rounds" in r), None)
    if "floor" in demand and floor:
        r = ratio(best, floor)
        print(f"  demanded: at most {demand['floor']} x the loop written by hand for one thread; is {r:.2f}: "
              f"{verdict(r <= demand['floor'])}")
    if "peak" in demand:
        for row in (r for r in ours if "us_per_step" in r):
            s = share(case, row, peak)
            print(f"  demanded: {demand['peak']:.0%} of peak; {row['threads']} thread(s): {s:.0%}: "
                  f"{verdict(s >= demand['peak'])}")
    if len(ours) == 2 and all("rounds" in r for r in ours):
        r = ratio(ours[1], ours[0])
        print(f"  demanded: two threads never slower than one; two / one is {r:.2f}: {verdict(r <= 1.03)}")
