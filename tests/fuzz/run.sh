#!/usr/bin/env bash
# Runs fuzzers, all of them or those named: FUZZ_SECONDS each (60), JOBS at a
# time. What they learn stays in build/fuzz/corpus, what broke them is written
# to build/fuzz/crashes/<target>/ and fails the run.
set -euo pipefail
cd "$(dirname "$0")/../.."

export out=build/fuzz
export seconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-$(nproc)}
# What the sanitizer holds back of freed memory counts as the target's.
export ASAN_OPTIONS=quarantine_size_mb=64:${ASAN_OPTIONS:-}

fuzz() {
  local target=$1 log=$out/logs/$1.log
  mkdir -p "$out/corpus/$target" "$out/crashes/$target" "$out/logs"
  local -a options=(-max_total_time="$seconds" -max_len=65536 -timeout=1
    -rss_limit_mb=512 -print_final_stats=1
    -artifact_prefix="$out/crashes/$target/")
  local dictionary=tests/fuzz/dictionaries/$target.dict
  [ ! -e "$dictionary" ] || options+=(-dict="$dictionary")
  local verdict=held
  "$out/tests/fuzz/fuzz_$target" "${options[@]}" "$out/corpus/$target" \
    "$out/seeds/$target" >"$log" 2>&1 </dev/null || verdict=BROKEN
  local runs
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-14s %-6s %9s runs, %s inputs kept\n' "$target" "$verdict" \
    "${runs:-0}" "$(find "$out/corpus/$target" -type f | wc -l)"
  [ "$verdict" = held ] || { grep -E '^(broken promise|SUMMARY|  what)' "$log" \
    || tail -n 5 "$log"; return 1; }
}
export -f fuzz

rm -rf "$out/seeds"
"$out/tests/fuzz/fuzz_seeds" "$out/seeds"
[ $# -gt 0 ] || set -- $(ls "$out/seeds")
printf '%s\n' "$@" | xargs -P "$jobs" -I{} bash -c 'fuzz {}'
