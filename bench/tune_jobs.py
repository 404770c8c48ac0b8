# SPDX-License-Identifier: Apache-2.0
"""Jobs that are slow on purpose, one for each cause, with what an engineer would change by hand; and one that is good.
Standard library only."""
import array
import os
import random
import struct
import zlib
from dataclasses import dataclass

from cases import write_npy


@dataclass(frozen=True)
class SlowJob:
    name: str
    cause: str
    text: str
    by_hand: tuple  # of keys
    rows: int  # of an epoch
    seconds: int = 60  # for tune


def regression(inputs, forward, batch, more_data="", train="", validation=0.0):
    return f"""# Slow on purpose; bench/tune_jobs.py writes it.
[data]
inputs = {{ x = "x{inputs}.npy" }}
target = {{ y = "y{inputs}.npy" }}
validation = {validation}
batch = {batch}
{more_data}
[model]
forward = \"\"\"
{forward}
\"\"\"
[train]
loss = "mse"
optimizer = {{ name = "adam", lr = 1e-3 }}
epochs = 1000
{train}
"""


IMAGES = """# Slow on purpose; bench/tune_jobs.py writes it.
[data]
train = "photos"
inputs = { x = "image" }
target = { y = "class" }
transforms = [{ name = "random_resized_crop", size = 32 }]
batch = 32
[model]
forward = \"\"\"
h = relu(conv2d(x / 255, 8, 3, padding=1))
y = linear(flatten(max_pool2d(h, 4)), 2)
\"\"\"
[train]
loss = "cross_entropy"
epochs = 1000
"""
MLP = "h = relu(linear(x, 64))\ny = linear(relu(linear(h, 64)), 1)"
ROWS = {40: 8192, 2048: 1024}

JOBS = [
    SlowJob("loader", "decodes each image in each epoch", IMAGES, ("data.memory=resident",), 480, 120),
    SlowJob("tiny batch", "batches of one row", regression(40, MLP, 1), ("data.batch=128", "train.optimizer.lr=0.0113"), 8192),
    SlowJob("memory", "reads and writes a large optimizer state for 8 rows", regression(2048, "y = linear(relu(linear(x, 2048)), 1)", 8),
            ("data.batch=64", "train.optimizer.lr=2.83e-3"), 1024, 120),
    SlowJob("f32", "multiplies in f32 where bf16 would do",
            regression(2048, "h = relu(linear(x, 2048))\nh = relu(linear(h, 2048))\ny = linear(h, 1)", 256),
            ("train.precision=bf16",), 1024, 120),
    SlowJob("threads", "64 threads make the samples of a small net", regression(40, MLP, 64, 'memory = "stream"\nworkers = 64\nprefetch = 8'),
            ("data.workers=0",), 8192),
    SlowJob("validation", "validates after every step", regression(40, MLP, 64, train="limit_batches = 1", validation=0.2),
            ("train.evaluate_every=100",), 64),
    SlowJob("good", "nothing", regression(40, MLP, 512), (), 8192),
]


def png(width, height, rng):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + rng.randbytes(3 * width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def make_photos(folder, count):
    rng = random.Random(1)
    for i in range(count):
        path = f"{folder}/photos/{'ab'[i % 2]}"
        os.makedirs(path, exist_ok=True)
        with open(f"{path}/{i:04}.png", "wb") as file:
            file.write(png(160, 160, rng))


def make_jobs(folder):
    """Writes data and jobs, what is missing of the data; the same bytes every time."""
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(f"{folder}/photos"):
        make_photos(folder, 480)
    for width, rows in ROWS.items():
        if os.path.exists(f"{folder}/y{width}.npy"):
            continue
        rng = random.Random(width)
        x = array.array("f", (rng.gauss(0, 1) for _ in range(rows * width)))
        write_npy(f"{folder}/x{width}.npy", (rows, width), x)
        write_npy(f"{folder}/y{width}.npy", (rows, 1), array.array("f", (x[i * width] - x[i * width + 1] for i in range(rows))))
    for job in JOBS:
        with open(f"{folder}/{job.name.replace(' ', '_')}.toml", "w") as file:
            file.write(job.text)
