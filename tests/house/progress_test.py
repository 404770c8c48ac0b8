#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on terminals of several widths and looks at the bar that is drawn. The command is the one argument."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

JOB = """[data]
train = "train.csv"
inputs = { x = "x" }
target = { y = "y" }
validation = 0.2
batch = 10
[model]
forward = "y = linear(x, 1)"
[train]
epochs = 1000000
max_time = 1.5
loss = "mse"
metrics = ["mae"]
loggers = []
"""
COLOUR = re.compile(r"\x1b\[\d*m")


def lines_on_terminal(command, folder, columns, **variables):
    """What was written over each other on one line, the codes for clearing it left out."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | variables
    process = subprocess.Popen([command, "train", "job.toml"], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=subprocess.STDOUT)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert process.wait() == 0, text
    return [line for line in re.split(r"\r?\n|\r\x1b\[K", text.decode()) if "%" in line]


def main(command):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = "".join(f"{i / 100},{i / 50}\n" for i in range(100))
        (folder / "train.csv").write_text("x,y\n" + rows)
        (folder / "job.toml").write_text(JOB)
        for columns in (30, 80, 160):
            lines = lines_on_terminal(command, folder, columns)
            assert len(lines) > 3, lines
            for line in lines:
                assert len(COLOUR.sub("", line)) < columns, (columns, line)
            last = lines[-1]
            assert "epoch " in last, last
            if columns >= 80:
                assert re.search(r"\d:\d\d left|\d d \d+ h left|long left", last), last
            if columns >= 160:
                assert all(word in last for word in ("[", "loss ", "validation ", "mae ", "lr ",
                                                     "samples/s")), last
        assert any("\x1b[32m" in line for line in lines)
        plain = lines_on_terminal(command, folder, 120, NO_COLOR="1")
        assert len(plain) > 3 and not any(COLOUR.search(line) for line in plain)
        assert not lines_on_terminal(command, folder, 120, TERM="dumb")


main(str(pathlib.Path(sys.argv[1]).resolve()))
