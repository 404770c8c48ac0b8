# SPDX-License-Identifier: Apache-2.0
"""The other questions: how step time scales, how long the first step takes, how much memory a run holds."""
import statistics
import tempfile

from cases import CASES
from table import verdict

FACTORS = (1, 2, 4, 8, 16, 32, 64)


def scaling(ours):
    """Case (c) with 1x to 64x the batch, and 1x to 64x the parameters: time per unit of work should not grow."""
    print(f"\nscaling of (c), one thread\n  {'batch':>8}{'parameters':>12}{'µs a step':>12}{'GFLOP/s':>10}")
    curves = {"batch": [], "parameters": []}
    for factor in FACTORS:
        curves["batch"].append(scaling_point(ours, 128 * factor, 128))
    for factor in FACTORS:
        curves["parameters"].append(scaling_point(ours, 128, width_for(factor)))
    return curves


def parameters(width):
    return 40 * width + width + width * width + width + width + 1


def width_for(factor):
    """The multiple of 16 whose network has closest to `factor` times the parameters of width 128."""
    return min(range(16, 4096, 16), key=lambda w: abs(parameters(w) - factor * parameters(128)))


def scaling_point(ours, batch, width):
    with open(ours.job("tabular")) as file:
        text = file.read().replace("128)", f"{width})").replace("batch = 128", f"batch = {batch}")
    with open(ours.job("scaling"), "w") as file:
        file.write(text)
    runs = [ours.bench("scaling", 1) for _ in range(3)]
    point = {"batch": batch, "width": width, "parameters": parameters(width)}
    failed = next((r for r in runs if "error" in r), None)
    if failed:
        print(f"  {batch:>8}{parameters(width):>12}  {failed['error']}")
        return {**point, "error": failed["error"]}
    point["us_per_step"] = statistics.median(r["us_per_step"] for r in runs)
    products = [40 * width, width * width, width]
    flops = 2 * batch * (3 * sum(products) - products[0])
    point["gflops"] = flops / point["us_per_step"] * 1e-3
    print(f"  {batch:>8}{parameters(width):>12}{point['us_per_step']:>12.1f}{point['gflops']:>10.1f}")
    return point


def startup(ours):
    """A whole `tightloop train` of one step, from process start to exit: with an empty cache and with a warm one."""
    print(f"\nfrom process start through the first step to exit, ms (median of 7)\n  {'':4}{'cold':>8}{'warm':>8}")
    results = {}
    for case in CASES.values():
        cold, warm = [], []
        for _ in range(7):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(ours.train_steps(case.name, 1, cache))
                warm.append(ours.train_steps(case.name, 1, cache))
        failed = next((r for r in cold + warm if "error" in r), None)
        if failed:
            print(f"  ({case.key})  {failed['error']}")
            results[case.key] = failed
            continue
        ms = [statistics.median(r["seconds"] for r in runs) * 1e3 for runs in (cold, warm)]
        results[case.key] = {"cold_ms": ms[0], "warm_ms": ms[1]}
        demanded = "" if case.key == "d" else f"  demanded 100 and 40: {verdict(ms[0] <= 100 and ms[1] <= 40)}"
        print(f"  ({case.key}) {ms[0]:>7.1f}{ms[1]:>8.1f}{demanded}")
    return results


def memory(ours):
    """Case (d): resident memory of a training process, beside the plan and the size of the data set. What the
    program itself takes, most of it LLVM, is what case (a) takes above its own plan. Both with a warm cache: compiling
    takes memory for a moment that training does not hold."""
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            run, small = (ours.train_steps(job, 600, cache) for job in ("fashion", "structured"))
    reported, small_plan = ours.bench("fashion", 1), ours.bench("structured", 1)
    failed = next((r for r in (run, small, reported, small_plan) if "error" in r), None)
    if failed:
        print(f"\nmemory of (d): {failed['error']}")
        return failed
    data = CASES["d"].rows * (784 + 1)
    program = small["peak_bytes"] - small_plan["planned_bytes"]
    mb = {"data set": data, "planned": reported["planned_bytes"], "peak resident": run["peak_bytes"],
          "of that the program alone": program}
    print("\nmemory of (d), MB")
    for name, size in mb.items():
        print(f"  {name:28}{size / 1e6:>9.1f}")
    above = (run["peak_bytes"] - data) / 1e6
    error = (run["peak_bytes"] - program) / reported["planned_bytes"] - 1
    print(f"  demanded: within 150 MB of the data set; is {above:.0f} above: {verdict(above <= 150)}")
    print(f"  demanded: as planned to within 5 %; differs by {error:+.1%}: {verdict(abs(error) <= 0.05)}")
    return mb
