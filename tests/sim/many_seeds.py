#!/usr/bin/env python3
"""More seeds than one run should lose: weir-sim in chunks, and one table.

    many_seeds.py PROGRAM FIRST:LAST FOLDER

Runs PROGRAM (a weir-sim) over the seeds in chunks, two processes at a time, and
keeps what each chunk printed in FOLDER. What is there is not run again: the same
command goes on after an interruption. In the end, and whenever it is called again,
it prints the sums of all that is there as the rows of docs/earlier-runs.md, and what
failed. FOLDER must belong to one PROGRAM: it keeps a digest of it and refuses
another.
"""

import collections
import hashlib
import pathlib
import re
import subprocess
import sys

CHUNK = 1000

# The row of a count, and what its name stands for there; the first that fits.
ROWS = [
    ("faults of the network", r"fault (.*)"),
    ("met by somebody", r"met (.*)"),
    ("hostile hosts", r"hostile host, (.*)"),
    ("runs about", r"run about (.*)"),
    ("runs", r"run (.*)"),
    ("changes of status", r"status (.*)"),
    ("of which server, which way", r"(clock .*|outage .*|\w+ of the \w+)"),
    ("accounts left alone", r"(account that no signal tracks)"),
    ("deeds", r"(.*)"),
]


def run_chunk(program, first, last, folder):
    path = folder / f"{first}-{last}.txt"
    if path.exists():
        return
    print(f"{first} to {last}", file=sys.stderr, flush=True)
    command = [program, "--seeds", f"{first}:{last}", "--jobs", "2", "--no-shrink",
               "--failures", "1000", "--table"]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not re.search(r"^\d+ runs, ", out.stdout, re.M):
        sys.exit(f"no summary of {first}:{last}:\n{out.stdout}")
    part = path.with_suffix(".part")
    part.write_text(out.stdout)
    part.rename(path)


def add_up(folder):
    counts = collections.Counter()
    sums = collections.Counter()
    failed = []
    settled = 0
    for path in folder.glob("*-*.txt"):
        for line in path.read_text().splitlines():
            if count := re.fullmatch(r"  (\d+)  (.*)", line):
                counts[count[2]] += int(count[1])
            elif line.startswith("FAILED"):
                failed.append(line)
            elif most := re.fullmatch(r"settled after at most (\d+) s", line):
                settled = max(settled, int(most[1]))
            elif whole := re.match(
                    r"(\d+) runs, (\d+) failed, (\d+) virtual hours, (\d+) steps", line):
                for name, number in zip(("runs", "failed", "hours", "steps"),
                                        whole.groups()):
                    sums[name] += int(number)
    return counts, sums, failed, settled


def print_rows(counts):
    rows = {name: [] for name, _ in ROWS}
    for name, count in sorted(counts.items()):
        row, cell = next((row, match[1]) for row, pattern in ROWS
                         if (match := re.fullmatch(pattern, name)))
        rows[row].append(f"{cell} {count:,}")
    for row, cells in rows.items():
        print(f"| {row} | {', '.join(cells)} |")


def check_owner(program, folder):
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    owner = folder / "program.sha256"
    if owner.exists() and owner.read_text() != digest:
        sys.exit(f"{folder} belongs to another program")
    owner.write_text(digest)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, seeds, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    first, last = (int(x) for x in seeds.split(":"))
    folder.mkdir(parents=True, exist_ok=True)
    check_owner(program, folder)
    for begin in range(first, last + 1, CHUNK):
        run_chunk(program, begin, min(begin + CHUNK - 1, last), folder)
    counts, sums, failed, settled = add_up(folder)
    print_rows(counts)
    print(f"{sums['runs']:,} runs, {sums['failed']:,} failed, {sums['hours']:,} virtual "
          f"hours, {sums['steps']:,} steps, settled after at most {settled:,} s")
    print("\n".join(failed))
    sys.exit(1 if sums["failed"] else 0)


if __name__ == "__main__":
    main()
