# SPDX-License-Identifier: Apache-2.0
"""The larger nets: what each is, its data, and the job that trains it. Standard library only; the peers read it too.

Inputs are normal numbers, labels and tokens uniform: a step's time does not depend on them.
"""
import array
import os
import random
import struct
from dataclasses import dataclass

from cases import write_npy


@dataclass(frozen=True)
class Network:
    key: str
    name: str
    title: str
    batch: int
    forward: str
    x: tuple  # a sample's shape
    y: tuple  # its target's shape; () is a label
    classes: int = 0  # of labels; 0: y are numbers, the loss mse
    vocabulary: int = 0  # x are tokens
    demand: float = 1.2  # the fastest peer's time over ours, at least
    compile_s: float = 0  # a cold compile takes at most this long
    steps: int = 2  # batches of data

    @property
    def loss(self):
        return "cross_entropy" if self.classes else "mse"

    def job(self):
        return f"""# Benchmark net ({self.key}); bench/networks.py writes it.
seed = 1
[data]
inputs = {{ x = "{self.name}_x.npy" }}
target = {{ y = "{self.name}_y.npy" }}
normalize = "none"
batch = {self.batch}
shuffle = false
[model]
forward = \"\"\"
{self.forward}
\"\"\"
[train]
epochs = 1
loss = "{self.loss}"
optimizer = {{ name = "adam", lr = 1e-3 }}
"""


NETWORKS = {
    n.key: n
    for n in (
        Network("e", "lenet5", "LeNet-5, 28×28, batch 64", 64, "y = lenet5(x)", (1, 28, 28), (), 10, demand=2,
                compile_s=0.3, steps=16),
        Network("f", "resnet18", "ResNet-18, 32×32, batch 64", 64, 'y = resnet18(x, classes=10, stem="cifar")',
                (3, 32, 32), (), 10),
        Network("g", "resnet50", "ResNet-50, 224×224, batch 8", 8, "y = resnet50(x)", (3, 224, 224), (), 1000,
                compile_s=3, steps=1),
        Network("h", "mobilenet_v2", "MobileNetV2, 32×32, batch 64", 64,
                'y = mobilenet_v2(x, classes=10, stem="cifar")', (3, 32, 32), (), 10),
        Network("i", "gpt", "GPT, 6 layers of 384, 6 heads, context 256, batch 8", 8,
                "y = transpose(gpt(x, 256, n_layer=6, n_head=6, n_embd=384), 1, 2)", (256,), (256,), 256, vocabulary=256),
        Network("k", "lstm", "LSTM 2×128, 50 steps of 16, batch 64", 64,
                "h = lstm(x, 128, num_layers=2)\ny = linear(h[:, -1], 1)", (50, 16), (1,), demand=2, compile_s=0.3,
                steps=8),
        Network("l", "gru", "GRU 64, 20 steps of 16, batch 32", 32, "h = gru(x, 64)\ny = linear(h[:, -1], 1)",
                (20, 16), (1,), demand=2, compile_s=0.3, steps=16),
        Network("m", "vit", "ViT-tiny, 32×32 in patches of 4, batch 64", 64,
                "y = vit(x, 10, patch_size=4, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768)", (3, 32, 32), (), 10),
    )
}


def write_labels(path, shape, values):
    """Version 1.0 NPY, little-endian int64, C order."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path + ".part", "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack(f"<{len(values)}q", *values))
    os.replace(path + ".part", path)


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def make_data(folder, network):
    """Writes the net's data and job to `folder`, what is missing of them; the same bytes every time."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{network.name}.toml", "w") as job:
        job.write(network.job())
    if os.path.exists(f"{folder}/{network.name}_y.npy"):
        return
    rng = random.Random(network.key)
    rows = network.batch * network.steps
    x, y = (rows, *network.x), (rows, *network.y)
    if network.vocabulary:
        write_labels(f"{folder}/{network.name}_x.npy", x, [rng.randrange(network.vocabulary) for _ in range(count(x))])
    else:
        write_npy(f"{folder}/{network.name}_x.npy", x, array.array("f", (rng.gauss(0, 1) for _ in range(count(x)))))
    if network.classes:
        write_labels(f"{folder}/{network.name}_y.npy", y, [rng.randrange(network.classes) for _ in range(count(y))])
    else:
        write_npy(f"{folder}/{network.name}_y.npy", y, array.array("f", (rng.gauss(0, 1) for _ in range(count(y)))))
