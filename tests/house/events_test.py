#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads back the event files that a training writes for TensorBoard: with a reader of its own, and with TensorBoard's
where that is installed. The command is the one argument."""
import ast
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

from event_reader import crc32c, doubles, events, message, summary_values

JOB = """seed = 1
[data]
inputs = { image = "image.npy" }
target = { y = "y.npy" }
validation = 0.25
batch = 8
[model]
parameters = { par = [1] }
forward = "y = linear(relu(linear(flatten(image), 3, name=\\"hidden\\")), 1, name=\\"out\\") + par"
[train]
epochs = 4
loss = "mse"
optimizer = { name = "adam", lr = 0.01 }
schedule = "cosine"
metrics = ["mae"]
log_every = 1
loggers = ["jsonl", { name = "tensorboard", images = 2 }]
checkpoint = { every_epochs = 1, keep = 0 }
"""
ROWS, HEIGHT, WIDTH = 40, 6, 5


def npy(kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def write_data(folder):
    pixels = bytes((i * 37 % 251) for i in range(ROWS * HEIGHT * WIDTH))
    (folder / "image.npy").write_bytes(npy("|u1", (ROWS, HEIGHT, WIDTH), pixels))
    (folder / "y.npy").write_bytes(npy("<f4", (ROWS, 1), struct.pack(f"<{ROWS}f", *[i % 7 for i in range(ROWS)])))
    (folder / "job.toml").write_text(JOB)
    return pixels


def train(command, folder, *more):
    subprocess.run([command, "train", "job.toml", "--quiet", *more], cwd=folder, check=True, timeout=120)


def event_files(run):
    return sorted(run.glob("events.out.tfevents.*"))


def lines(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def check_scalars(run, log):
    seen = {}
    for step, tag, value in summary_values(event_files(run)[0]):
        if 2 in value:
            seen.setdefault(tag, []).append((step, value[2][0]))
    steps = [line for line in log if line["kind"] == "step"]
    epochs = [line for line in log if line["kind"] == "epoch"]
    assert [s["step"] for s in steps] == list(range(1, 17)), steps
    assert [e["step"] for e in epochs] == [4, 8, 12, 16], epochs
    single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
    for tag, source, name in [("train/loss", steps, "loss"), ("train/lr", steps, "lr"),
                              ("epoch/train_loss", epochs, "train_loss"), ("epoch/mae", epochs, "mae"),
                              ("epoch/validation_loss", epochs, "validation_loss")]:
        assert seen[tag] == [(line["step"], single(line[name])) for line in source], (tag, seen[tag])


def check_histograms(run):
    found = [(step, tag, value[5][0]) for step, tag, value in summary_values(event_files(run)[0]) if 5 in value]
    assert {"weights/hidden/weight", "weights/out/bias", "weights/par"} <= {tag for _, tag, _ in found}
    for _, tag, raw in found:
        fields = message(raw)
        limits, counts = doubles(fields[6][0]), doubles(fields[7][0])
        assert len(limits) == len(counts) and list(limits) == sorted(limits), tag
        assert sum(counts) == fields[3][0] and limits[-1] == fields[2][0], tag
    sizes = {tag: message(raw)[3][0] for _, tag, raw in found}
    assert sizes["weights/hidden/weight"] == 3 * HEIGHT * WIDTH


def unpacked(png):
    """Height, width, colour type and pixels of a PNG without filters."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", b""
    while at < len(png):
        (size,), kind = struct.unpack_from(">I", png, at), png[at + 4:at + 8]
        body = png[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(kind + body)
        header, data = (body, data) if kind == b"IHDR" else (header, data + body if kind == b"IDAT" else data)
        at += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", header[:10])
    raw, rows = zlib.decompress(data), []
    assert depth == 8 and len(raw) == height * (width + 1)
    for y in range(height):
        assert raw[y * (width + 1)] == 0
        rows.append(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
    return height, width, colour, b"".join(rows)


def check_images(run, pixels):
    rows = json.loads((run / "split.json").read_text())["validation"]
    found = {tag: message(value[4][0]) for _, tag, value in summary_values(event_files(run)[0]) if 4 in value}
    assert sorted(found) == ["input/0", "input/1"], found.keys()
    for i in range(2):
        first = rows[i] * HEIGHT * WIDTH
        assert unpacked(found[f"input/{i}"][4][0]) == (HEIGHT, WIDTH, 0, pixels[first:first + HEIGHT * WIDTH])


def check_texts(run):
    plugins = {}
    for _, tag, value in summary_values(event_files(run)[0]):
        if 9 in value:
            plugin = message(message(value[9][0])[1][0])
            plugins[tag] = (plugin[1][0].decode(), plugin.get(2, [b""])[0], value)
    job = message(plugins["job"][2][8][0])
    assert plugins["job"][0] == "text" and job[1] == [7] and b'forward = ' in job[8][0]
    start = message(message(plugins["_hparams_/session_start_info"][1])[3][0])
    values = {message(entry)[1][0].decode(): message(message(entry)[2][0]) for entry in start[1]}
    assert values["train.optimizer"][3] == [b"adam"] and values["train.optimizer.lr"][2] == [0.01], values
    assert values["data.batch"][2] == [8.0]
    experiment = message(message(plugins["_hparams_/experiment"][1])[2][0])
    tags = [message(message(metric)[1][0])[2][0] for metric in experiment[6]]
    assert b"epoch/validation_loss" in tags and b"epoch/mae" in tags
    assert "_hparams_/session_end_info" in plugins


def check_graph(run):
    graphs = [event[4][0] for _, _, event in events(event_files(run)[0]) if 4 in event]
    assert len(graphs) == 1
    nodes = {}
    for raw in message(graphs[0])[1]:
        node = message(raw)
        nodes[node[1][0].decode()] = (node[2][0].decode(), [i.decode() for i in node.get(3, [])])
    chain = [("image", "input"), ("flatten0", "Flatten"), ("hidden", "Linear"), ("relu0", "ReLU"), ("out", "Linear")]
    for (before, _), (name, kind) in zip([("", "")] + chain, chain):
        assert nodes[name] == (kind, [before] if before else []), nodes
    assert {"out", "par", "y"} <= set(nodes["loss"][1]), nodes
    for _, inputs in nodes.values():
        assert set(inputs) <= set(nodes), nodes


def check_steps(run):
    """steps.npy: the format as numpy.lib.format describes it, and NumPy itself where it is installed."""
    raw = (run / "steps.npy").read_bytes()
    (length,) = struct.unpack_from("<H", raw, 8)
    header = ast.literal_eval(raw[10:10 + length].decode())
    assert raw[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0
    assert header == {"descr": [("step", "<i8"), ("loss", "<f4"), ("lr", "<f4")], "fortran_order": False,
                      "shape": (16,)}, header
    rows = list(struct.iter_unpack("<qff", raw[10 + length:]))
    single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
    assert rows == [(s["step"], single(s["loss"]), single(s["lr"])) for s in lines(run) if s["kind"] == "step"], rows
    try:
        import numpy
    except ImportError:
        return
    table = numpy.load(run / "steps.npy", mmap_mode="r")
    assert table["step"].tolist() == list(range(1, 17)) and table["loss"].tolist() == [r[1] for r in rows]


def check_resumed(command, folder):
    """A run that goes on from a checkpoint: no step twice in the lines, and a new event file that voids the rest."""
    run = folder / "run"
    whole = lines(run)
    torn = (run / "metrics.jsonl").read_text() + '{"kind":"step","step":17,"ep'
    (run / "metrics.jsonl").write_text(torn)
    (checkpoint,) = (run / "checkpoints").glob("*-00000008.*")
    train(command, folder, "--resume", str(checkpoint))
    strip = lambda log: [{k: v for k, v in line.items() if k not in ("samples_per_s", "seconds")} for line in log]
    assert strip(lines(run)) == strip(whole)
    files = event_files(run)
    assert len(files) == 2
    restarts = [(step, message(event[7][0])) for _, step, event in events(files[1]) if 7 in event]
    assert restarts == [(9, {1: [1]})], restarts
    assert not [1 for _, _, event in events(files[1]) if 4 in event], "TensorBoard complains of a second graph"
    assert not [1 for _, tag, _ in summary_values(files[1]) if tag.startswith("input/")]
    check_steps(run)


def check_with_tensorboard(run):
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        return print("TensorBoard is not installed: its own reader was not asked")
    reader = EventAccumulator(str(run), size_guidance={"scalars": 0, "histograms": 0, "images": 0, "tensors": 0})
    reader.Reload()
    tags = reader.Tags()
    assert {"train/loss", "train/lr", "epoch/mae"} <= set(tags["scalars"]), tags
    assert "weights/hidden/weight" in tags["histograms"] and "input/0" in tags["images"] and tags["graph"], tags
    assert "job" in tags["tensors"], tags
    log = lines(run)
    for tag, kind, name in [("train/loss", "step", "loss"), ("epoch/train_loss", "epoch", "train_loss")]:
        expected = [(line["step"], line[name]) for line in log if line["kind"] == kind]
        found = [(s.step, s.value) for s in reader.Scalars(tag)]
        assert [s for s, _ in found] == [s for s, _ in expected], (tag, found)
        assert all(abs(a - b) <= 1e-6 * abs(b) for (_, a), (_, b) in zip(found, expected)), tag
    assert len(reader.Graph().node) >= 6
    print("TensorBoard's own reader agrees")


def main(command):
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pixels = write_data(folder)
        train(command, folder)
        run = folder / "run"
        assert len(event_files(run)) == 1
        first = next(events(event_files(run)[0]))[2]
        assert first[3] == [b"brain.Event:2"]
        check_scalars(run, lines(run))
        check_histograms(run)
        check_images(run, pixels)
        check_texts(run)
        check_graph(run)
        check_steps(run)
        check_resumed(command, folder)
        check_with_tensorboard(run)


main(str(pathlib.Path(sys.argv[1]).resolve()))
