#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment with the frameworks we measure ourselves against, at fixed versions. Safe to run again.
# PyTorch's package for Linux brings its CUDA libraries along: several GB.
set -euo pipefail
cd "$(dirname "$0")/.."
place=${TIGHTLOOP_PEERS:-build/peers}

free_gb=$(df -BG --output=avail "$(dirname "$(realpath -m "$place")")" 2>/dev/null | tail -1 | tr -dc 0-9 || echo 99)
if [ ! -x "$place/bin/python" ] && [ "${free_gb:-99}" -lt 15 ]; then
  echo "bench-peers needs about 10 GB in $place, and $free_gb GB are free" >&2
  exit 2
fi
mkdir -p "$(dirname "$place")"
[ -x "$place/bin/python" ] || python3 -m venv "$place"
"$place/bin/pip" install --quiet --disable-pip-version-check \
  numpy==2.4.6 torch==2.13.0 jax==0.10.2 jaxlib==0.10.2 tensorflow-cpu==2.21.0 keras==3.15.1
"$place/bin/python" - <<'PYTHON'
from importlib.metadata import version
print("peers:", ", ".join(f"{name} {version(name)}" for name in ("torch", "jax", "tensorflow-cpu", "keras")))
PYTHON
