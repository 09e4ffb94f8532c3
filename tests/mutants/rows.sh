#!/usr/bin/env bash
# Takes one rule of docs/requirements.md after the other out of the product and
# runs the test that its row names, which has to fail: README.md says what for.
# Prints a table, and fails when a test does not notice. The tree and its build
# folders stay as they are.
#
#   rows.sh [NAME...]   these mutants of rows/, else those of $MUTANTS, else all
#
# JOBS         processes of a build (2)
# SECONDS_MAX  for one run of a test (900); one that takes longer shows nothing
# OUT          where the copy is, as the folder rows (build/mutants)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
OUT=$(realpath -m "${OUT:-$root/build/mutants}")
TARGET=weir
jobs=${JOBS:-2}
copy=$OUT/rows
. "$here/copies.sh"

# word NAME WORD: what the header of a mutant says.
word() {
  sed -n "/^diff /q; s/^$2: //p" "$here/rows/$1.patch"
}

# run_test PROGRAM.SUITE.NAME LOG: that test, and all of its parameters.
run_test() {
  local test=${1#*.} program
  program=$(find "$copy/build/tests" -type f -name "${1%%.*}_test" -perm -u+x)
  (cd "$copy/build" && timeout "${SECONDS_MAX:-900}" "$program" \
    --gtest_filter="$test:*/$test/*") > "$2" 2>&1
}

# Whether it was this test that failed, and not the run.
is_failed() {
  local test=${1#*.} log=$2 code=$3
  grep -qE "^\[  FAILED  \] ([^ ]+/)?$test(/[^ ]*)?( |,|\$)" "$log" ||
    { [ "$code" -eq 134 ] && grep -q 'Assertion' "$log"; }
}

# Sets verdict: of a run with the mutant, by its exit status.
judge() {
  local test=$1 log=$2 code=$3
  if [ "$code" -eq 124 ]; then
    verdict='FAULTY: too slow'
  elif ! grep -q '^\[ RUN      \]' "$log"; then
    verdict='FAULTY: no test ran'
  elif [ "$code" -eq 0 ]; then
    verdict='SURVIVED'
  elif is_failed "$test" "$log" "$code"; then
    verdict=noticed
  else
    verdict="FAULTY: status $code"
  fi
}

line() {
  printf '%-10s %-9s %-19s %5s  %s\n' "$1" "$2" "$4" "$5" "$3" |
    tee -a "$copy/table.txt"
}

# The mutant is taken out again whatever happens; the build follows with the next.
try() {
  local name=$1 log=$copy/logs/$1 file=$here/rows/$1.patch began code=0 test
  began=$(date +%s)
  test=$(word "$name" test)
  if ! put rows "$file" 2> "$log.build"; then
    verdict='FAULTY: no place'
  elif ! build rows "$jobs" > "$log.build" 2>&1; then
    verdict='FAULTY: no build'
    put rows "$file" -R
  else
    run_test "$test" "$log.run" || code=$?
    judge "$test" "$log.run" "$code"
    put rows "$file" -R
  fi
  line "$name" "$(word "$name" row)" "$test" "$verdict" \
    $(($(date +%s) - began))
}

# Else what fails with a mutant would say nothing.
try_unchanged() {
  local test log=$copy/logs/unchanged
  build rows "$jobs" > "$log.build" 2>&1 || {
    tail -n 20 "$log.build" >&2
    exit 2
  }
  for test in $(for name in "$@"; do word "$name" test; done | sort -u); do
    if ! run_test "$test" "$log.run" || ! grep -q '^\[       OK \]' "$log.run"; then
      echo "$test fails without any mutant: $log.run" >&2
      exit 2
    fi
  done
}

[ $# -gt 0 ] || set -- ${MUTANTS:-}
if [ $# -eq 0 ]; then
  for file in "$here"/rows/*.patch; do
    set -- "$@" "$(basename "$file" .patch)"
  done
fi
for program in $(for name in "$@"; do word "$name" test; done | sed 's/\..*//' |
  sort -u); do
  TARGET+=" ${program}_test"
done
mkdir -p "$copy/logs"
prepare rows
try_unchanged "$@"
: > "$copy/table.txt"
line mutant row test verdict s
for name in "$@"; do
  try "$name"
done
! grep -qE ' (SURVIVED|FAULTY)' "$copy/table.txt"
