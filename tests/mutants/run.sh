#!/usr/bin/env bash
# Builds the simulator with one mutant after the other and lets it look for the
# fault: README.md says what for. Prints a table, and fails when a mutant
# survives. The tree and its build folders stay as they are.
#
#   run.sh [NAME...]   these mutants, else those of $MUTANTS, else all
#
# JOBS       mutants at a time (2); each has a copy of the tree, some 200 MB
# SEEDS      first:last, for each mutant (1:500); it stops at the first that
#            fails
# KNOWN      a file with lines "NAME SEED": that seed is tried before the others
# SECONDS_MAX  for one run of the program (900); one that takes longer hangs
# TARGET     what is built (weir-sim)
# PROGRAM    what is run with --seeds, below the build folder (tests/sim/weir-sim)
#            or anywhere: then it is told by $slot which copy of $OUT is meant
# OUT        where copies, logs and the table go (build/mutants)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export here root
export OUT=$(realpath -m "${OUT:-$root/build/mutants}")
export SEEDS=${SEEDS:-1:500} SECONDS_MAX=${SECONDS_MAX:-900}
export KNOWN=${KNOWN:-/dev/null}
export TARGET=${TARGET:-weir-sim} PROGRAM=${PROGRAM:-tests/sim/weir-sim}
jobs=${JOBS:-2}

. "$here/copies.sh"

run_seeds() {
  local program=$PROGRAM
  [[ $program = /* ]] || program=$OUT/$1/build/$PROGRAM
  timeout "$SECONDS_MAX" "$program" --seeds "$2" --no-shrink
}

# The seed that found it before, then all.
look_for() {
  local known
  known=$(awk -v name="$2" '$1 == name { print $2; exit }' "$KNOWN")
  { [ -z "$known" ] || run_seeds "$1" "$known:$known"; } && run_seeds "$1" "$SEEDS"
}

# Sets seed and property: "FAILED seed 7: settles: 2 accounts differ ...".
read_failure() {
  local log=$1 code=$2 line
  line=$(grep -m1 '^FAILED seed ' "$log")
  seed=$(sed -E 's/^FAILED seed ([0-9]+):.*/\1/' <<< "$line")
  property=$(sed -E 's/^FAILED seed [0-9]+: ([a-z_ ]+).*/\1/' <<< "$line")
  [ -n "$property" ] || property="exit status $code"
  [ "$code" -ne 124 ] || property="hangs"
}

# One mutant in the copy that this job has: `slot` is set by xargs.
try() {
  local name=$1 log=$OUT/logs/$1 began code=0
  local seed='' property=''
  began=$(date +%s)
  if ! put "$slot" "$here/$name.patch" 2> "$log.build"; then
    property="does not apply"
  elif ! build "$slot" 1 > "$log.build" 2>&1; then
    property="does not build"
    put "$slot" "$here/$name.patch" -R
  else
    look_for "$slot" "$name" > "$log.run" 2>&1 || code=$?
    [ "$code" -eq 0 ] || read_failure "$log.run" "$code"
    put "$slot" "$here/$name.patch" -R
  fi
  local verdict=found
  [ -n "$property" ] || property=-
  # Only a property that was broken says that the mutant was found.
  case $property in "does not "* | "exit status "* | hangs) verdict=FAULTY ;; esac
  [ "$verdict" = FAULTY ] || [ "$code" -ne 0 ] || verdict=SURVIVED
  printf '%-34s %-9s %6s  %-28s %5s\n' "$name" "$verdict" "${seed:--}" \
    "$property" $(($(date +%s) - began)) | tee -a "$OUT/table.txt"
}
export -f build put run_seeds look_for read_failure try

mkdir -p "$OUT/logs"
[ $# -gt 0 ] || set -- ${MUTANTS:-}
if [ $# -eq 0 ]; then
  for file in "$here"/*.patch; do
    set -- "$@" "$(basename "$file" .patch)"
  done
fi
for ((i = 0; i < jobs; ++i)); do
  prepare "$i"
  build "$i" "$jobs" > "$OUT/logs/unchanged.$i.build" 2>&1 || {
    tail -n 20 "$OUT/logs/unchanged.$i.build" >&2
    exit 2
  }
done
# Else what is found would say nothing.
if ! run_seeds 0 "$SEEDS" > "$OUT/logs/unchanged.run" 2>&1; then
  echo "the simulator fails without any mutant: $OUT/logs/unchanged.run" >&2
  exit 2
fi
printf '%-34s %-9s %6s  %-28s %5s\n' mutant verdict seed property s |
  tee "$OUT/table.txt"
printf '%s\n' "$@" |
  xargs -P "$jobs" --process-slot-var=slot -I{} bash -c 'try {}'
! grep -qE ' (SURVIVED|FAULTY) ' "$OUT/table.txt"
