# SPDX-License-Identifier: Apache-2.0
"""The four benchmark cases: sizes, data and what is demanded of us. Standard library only; the peers read it too.

`python3 cases.py DIR` writes every case's data to DIR: float32 NPY files, and Fashion-MNIST's IDX files (linked
where the data set is installed, made up in the same shape where it is not).
"""
import array
import gzip
import math
import os
import random
import struct
import sys
from dataclasses import dataclass, field

FASHION = "/usr/share/datasets/fashion-mnist"
FASHION_FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")


@dataclass(frozen=True)
class Case:
    key: str
    name: str
    title: str
    layers: tuple
    batch: int
    rows: int
    activation: str = ""
    loss: str = "mse"
    shuffle: bool = True
    lr: float = 1e-3
    # Demanded: our time per step is at most the fastest peer's / peer, PyTorch DataLoader's / loader,
    # the hand-written loop's * floor; or at least this share of the machine's peak.
    demand: dict = field(default_factory=dict)

    @property
    def steps(self):
        return self.rows // self.batch

    @property
    def flops(self):
        """Multiply-adds (2 each) of one step's matrix products; the first layer needs no input gradient."""
        products = [a * b for a, b in zip(self.layers, self.layers[1:])]
        return 2 * self.batch * (3 * sum(products) - products[0])


CASES = {
    c.key: c
    for c in (
        Case("a", "structured", "structured 40→1 + par·f", (40, 1), 128, 38400, shuffle=False, lr=5e-4,
             demand={"peer": 5, "loader": 300, "floor": 1.5}),
        Case("b", "control", "MLP 8-64-64-4 tanh", (8, 64, 64, 4), 256, 65536, "tanh",
             demand={"peer": 3, "loader": 30, "peak": 0.5}),
        Case("c", "tabular", "MLP 40-128-128-1 ReLU", (40, 128, 128, 1), 128, 38400, "relu",
             demand={"peer": 2, "loader": 20, "peak": 0.5}),
        Case("d", "fashion", "MLP 784-256-256-10 ReLU", (784, 256, 256, 10), 128, 60000, "relu", "cross_entropy",
             demand={"peer": 1.3, "peak": 0.6}),
    )
}


def write_npy(path, shape, values):
    """Version 1.0 NPY, little-endian float32, C order."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = array.array("f", values)
    if sys.byteorder == "big":
        data.byteswap()
    with open(path + ".part", "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        data.tofile(out)
    os.replace(path + ".part", path)


def make_structured(folder, case):
    write_npy(f"{folder}/structured_x.npy", (case.rows, 40), range(case.rows * 40))
    for name in "fy":
        write_npy(f"{folder}/structured_{name}.npy", (case.rows, 1), range(case.rows))


def make_regression(folder, case):
    """Normal inputs; each output a smooth function of a few of them, plus noise."""
    rng = random.Random(case.key)
    width, outputs = case.layers[0], case.layers[-1]
    xs, ys = array.array("f"), array.array("f")
    for _ in range(case.rows):
        x = [rng.gauss(0, 1) for _ in range(width)]
        xs.extend(x)
        ys.extend(math.sin(x[k] + 0.5 * x[k + 4]) + 0.3 * x[k + 1] * x[k + 2] for k in range(outputs))
    write_npy(f"{folder}/{case.name}_x.npy", (case.rows, width), xs)
    write_npy(f"{folder}/{case.name}_y.npy", (case.rows, outputs), ys)


def make_fashion(folder, case):
    rng = random.Random(case.key)
    for name in FASHION_FILES:
        target = f"{folder}/{name}"
        if os.path.exists(f"{FASHION}/{name}"):
            os.symlink(f"{FASHION}/{name}", target)
            continue
        images = "images" in name
        dims = (case.rows, 28, 28) if images else (case.rows,)
        body = rng.randbytes(math.prod(dims))
        body = body if images else bytes(b % 10 for b in body)
        with gzip.open(target, "wb", compresslevel=1) as out:
            out.write(bytes((0, 0, 8, len(dims))) + struct.pack(f">{len(dims)}I", *dims) + body)


def make_data(folder):
    """Writes what is missing in `folder`; the same bytes every time."""
    os.makedirs(folder, exist_ok=True)
    makers = {"a": (make_structured, "structured_y.npy"), "b": (make_regression, "control_y.npy"),
              "c": (make_regression, "tabular_y.npy"), "d": (make_fashion, FASHION_FILES[-1])}
    for key, (make, last) in makers.items():
        if not os.path.exists(f"{folder}/{last}"):
            make(folder, CASES[key])


if __name__ == "__main__":
    make_data(sys.argv[1])
