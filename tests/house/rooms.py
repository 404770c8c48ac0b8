# SPDX-License-Identifier: Apache-2.0
"""The table of rooms: what each room may include. Everything that checks the layout reads it from here."""

BELOW_ENGINE = {"base", "ir", "ops"}

# room -> other rooms whose headers it may include. Rooms above the engine see through it to the graph, not to
# the passes and backends that it joins.
SEES = {
    "base": set(),
    "ir": {"base"},
    "ops": {"base", "ir"},
    "passes": {"base", "ir", "ops"},
    "backends": {"base", "ir", "ops"},
    "engine": BELOW_ENGINE | {"passes", "backends"},
    "nn": BELOW_ENGINE | {"engine"},
    "optim": BELOW_ENGINE | {"engine"},
    "data": BELOW_ENGINE | {"engine"},
    "io": BELOW_ENGINE | {"engine"},
    "dist": BELOW_ENGINE | {"engine", "optim"},
    "train": BELOW_ENGINE | {"engine", "nn", "optim", "data", "io", "dist"},
    "cli": BELOW_ENGINE | {"engine", "nn", "optim", "data", "io", "dist", "train"},
}

# how an include of an outside library begins -> folders that may contain it
OUTSIDE = {
    "llvm": ["tightloop/backends/cpu/codegen", "tightloop/backends/cpu/runtime"],
    "oneapi/dnnl": ["tightloop/backends/cpu/library"],
    "dnnl": ["tightloop/backends/cpu/library"],
    "omp.h": ["tightloop/backends/cpu"],
    "toml++": ["tightloop/train", "cli"],
    "nlohmann": ["tightloop/io", "tightloop/train", "cli"],
    "spdlog": ["tightloop/train", "cli"],
    "CLI/": ["cli"],
    "fmt/": ["tightloop", "cli"],
    "fast_float": ["tightloop"],
    "zlib.h": ["tightloop/base", "tightloop/data", "tightloop/io"],
    "xxhash": ["tightloop"],
    "jpeglib.h": ["tightloop/data/images"],
    "jerror.h": ["tightloop/data/images"],
    "png.h": ["tightloop/data/images"],
    "webp/": ["tightloop/data/images"],
}

# Never reachable from a public header (every header that is installed).
NOT_IN_PUBLIC_HEADERS = [*OUTSIDE, "iostream", "regex"]


def is_public(path):
    """Public headers are those that `cmake --install` copies."""
    return path.startswith("tightloop/") and path.endswith(".h") and not path.startswith("tightloop/backends/cpu/")
