#!/usr/bin/env python3
"""Judges what `make coverage` measured: the lines that ran, by module, and
every line that turns bad input away.

    tests/coverage.py COVERAGE.json [LINES_PERCENT]

Fails when a module is below the percentage (95), or when a line that refuses
something never ran. Lines that no test can reach are told to it by a comment on
them: `// unreachable: why`.
"""
import json
import re
import sys
from collections import defaultdict

# How bad input, damage and what cannot be is turned away here.
REFUSAL = re.compile(r"""
    (?<![\w.>])(?:fail|failure|refuse|refused|broken|misplaced|[a-z]+_error
                |bad_[a-z_]+|damaged(?:_[a-z_]+)?)\(      # an error is made
  | \brefusal\{ | \bthrow\s
  | \breturn\s(?:false|nullptr|std::nullopt);            # not one of these
  | (?:\breturn|[?:=])\s(?:cbor::)?fault::(?!none\b)      # why CBOR is refused
  | (?:\breturn|[?:])\s"[^"]*\s[^"]*"                    # a sentence says why
  | \bx_?\.find\("                                      # a finding of verify
  | \bupdate_outcome::(?!done)\w+;
  | \bcount\(repo_counter:: | \btake_malformed\(        # counted, dropped
""", re.VERBOSE)
MODULES = (
    ("atproto", re.compile(r"^atproto/")),
    ("storage", re.compile(r"^storage/")),
    ("net/address_guard", re.compile(r"^net/address_guard")),
    ("machines", re.compile(r"^actors/")),
)


def module_of(path):
    return next((name for name, files in MODULES if files.match(path)), None)


def read(path):
    """Lines by file: number to whether it ran, templates merged."""
    with open(path, encoding="utf-8") as source:
        data = json.load(source)
    out = defaultdict(dict)
    for file in data["files"]:
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                known = out[file["file"]].get(line["line_number"], False)
                out[file["file"]][line["line_number"]] = (
                    known or line["count"] > 0)
    return out


def main(arguments):
    wanted = float(arguments[2]) if len(arguments) > 2 else 95.0
    files = read(arguments[1])
    totals = defaultdict(lambda: [0, 0])
    missed, refusals = [], 0
    for path, lines in sorted(files.items()):
        module = module_of(path)
        if module is None:
            continue
        with open(path, encoding="utf-8") as source:
            text = source.read().splitlines()
        for number, ran in lines.items():
            line = text[number - 1]
            if "// unreachable: " in line:
                continue
            totals[module][0] += ran
            totals[module][1] += 1
            if REFUSAL.search(line):
                refusals += 1
                if not ran:
                    missed.append(f"{path}:{number}: {line.strip()}")
    good = True
    for module, _ in MODULES:
        ran, lines = totals[module]
        percent = 100.0 * ran / lines if lines else 0.0
        enough = lines > 0 and percent >= wanted
        good = good and enough
        print(f"{module:18} {percent:5.1f} % of {lines:,} lines"
              f"{'' if enough else f', {wanted:g} % are asked'}")
    print(f"{'refusals':18} {refusals - len(missed)} of {refusals} ran")
    for line in missed:
        print(f"  never ran: {line}")
    return 0 if good and not missed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
