#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that building, testing and the examples need. Asks for nothing; a second run
# only checks (a fraction of a second).
set -euo pipefail

packages=(
  # compilers and build
  g++ cmake ninja-build make ccache git python3
  # libraries
  llvm-19-dev libdnnl-dev libtomlplusplus-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev
  libfast-float-dev libxxhash-dev zlib1g-dev
  libjpeg62-turbo-dev libpng-dev libwebp-dev
  # tests, benchmarks, sanitizers, fuzzing, format and lint
  libgtest-dev libbenchmark-dev clang clang-format clang-tidy libclang-rt-14-dev libomp-dev
  # a browser that looks at reports
  chromium
  # real data of the examples
  dataset-fashion-mnist python3-statsmodels python3-sklearn
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo -n)
fi

echo "setup: installing ${missing[*]}"
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null >"$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "${as_root[@]}" apt-get update -q </dev/null >"$log" 2>&1 || ! install; then
  tail -n 30 "$log" >&2
  echo "setup: apt-get could not install these packages; the lines above say why" >&2
  exit 1
fi
