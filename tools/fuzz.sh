#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD SECONDS: runs every fuzz target for that long, from the seeds in tests/fuzz/corpus. New inputs stay in
# the build folder; a crash is printed and fails.
set -euo pipefail
build=$1
seconds=$2
for program in "$build"/tests/fuzz/*_fuzz; do
  [[ -x $program ]] || { echo "fuzz: no targets in $build"; exit 1; }
  name=$(basename "$program" _fuzz)
  seeds=tests/fuzz/corpus/$name
  found=$build/corpus/$name
  mkdir -p "$found"
  folders=("$found")
  [[ -d $seeds ]] && folders+=("$seeds")
  log=$build/fuzz-$name.log
  if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$build/crash-$name-" "${folders[@]}" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log"
    echo "fuzz: $name failed"
    exit 1
  fi
  echo "fuzz: $name $(grep -E 'number_of_executed_units' "$log" | grep -oE '[0-9]+$') runs, clean"
done
