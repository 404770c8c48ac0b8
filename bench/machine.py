# SPDX-License-Identifier: Apache-2.0
"""What the machine is, by features (a virtual CPU's name may lie), and the hand-written programs that probe it."""
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = "-std=c++20 -O3 -march=native -ffp-contract=fast -w -pthread".split()
WIDE = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8", "asimd", "sve")


def compile_floor(folder):
    """Builds bench/floor with the machine's compiler when a source is newer than its program."""
    os.makedirs(folder, exist_ok=True)
    programs = {}
    for name in ("structured", "peak"):
        source, program = f"{HERE}/floor/{name}.cpp", f"{folder}/{name}"
        if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
            subprocess.run([os.environ.get("CXX", "g++"), *FLAGS, source, "-o", program], check=True)
        programs[name] = program
    return programs


def run_json(command, **options):
    """The JSON object that a program prints, or {"error": …}."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"error": lines[-1][:300]}
    return json.loads(done.stdout)


def pinned(threads):
    """For subprocess: binds the child to as many of our CPUs as it has threads."""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    return {"preexec_fn": lambda: os.sched_setaffinity(0, cpus)}


def read(path, default=""):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return default


def describe(peak_program):
    cpuinfo = read("/proc/cpuinfo")
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.M)
    flags = flags.group(1).split() if flags else []
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.M)
    cache = "/sys/devices/system/cpu/cpu0/cache/index"
    caches = {f"L{read(f'{cache}{i}/level').strip()}": read(f"{cache}{i}/size").strip()
              for i in range(8) if read(f"{cache}{i}/type").strip() in ("Data", "Unified")}
    threads = min(2, len(os.sched_getaffinity(0)))
    return {"cpus": len(os.sched_getaffinity(0)), "features": [f for f in WIDE if f in flags],
            "says": model.group(1) if model else os.uname().machine, "caches": caches,
            "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
            **run_json([peak_program, str(threads), "memory"])}


def file_name(machine):
    """A name for the results that tells machines apart and has no date."""
    return "-".join([os.uname().machine, *machine["features"][-3:], f"{machine['cpus']}cpu"]).replace("_", "")
