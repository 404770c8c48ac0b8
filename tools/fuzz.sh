#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD SECONDS: runs every fuzz target for that long, one on each core, from the seeds in tests/fuzz/corpus.
# New inputs stay in the build folder; a crash is printed and fails.
set -euo pipefail
export build=$1 seconds=$2

fuzz() {
  name=$(basename "$1" _fuzz)
  found=$build/corpus/$name
  mkdir -p "$found"
  folders=("$found")
  [[ -d tests/fuzz/corpus/$name ]] && folders+=("tests/fuzz/corpus/$name")
  log=$build/fuzz-$name.log
  if ! "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$build/crash-$name-" "${folders[@]}" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log"
    echo "fuzz: $name failed"
    return 1
  fi
  echo "fuzz: $name $(grep -E 'number_of_executed_units' "$log" | grep -oE '[0-9]+$') runs, clean"
}
export -f fuzz

programs=$(find "$build/tests/fuzz" -maxdepth 1 -name '*_fuzz' -type f -executable | sort)
[[ -n $programs ]] || { echo "fuzz: no targets in $build"; exit 1; }
xargs -P "$(nproc)" -I{} bash -c 'fuzz {}' <<<"$programs"
