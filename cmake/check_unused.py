#!/usr/bin/env python3
"""Names functions of the product that no program of it reaches: only tests call
them, or nobody does.

  check_unused.py ROOT BUILD [--libraries GLOB...] [--programs PATH...]

The linker leaves out of a program what it does not reach (-ffunction-sections,
--gc-sections), so a function that a library of the product defines, and none of
its programs has, is called by nobody or was inlined into all its callers. The
second kind is told apart by the sources: their text has its name before a
parenthesis more often than to declare and to define it. So one whose name others
have, too, is overlooked; one that is reported is unused.

An assignment that stands beside a move constructor is not looked at.

cmake/unused_allowed.txt lists those that may be unused: "name | reason".
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from collections import Counter

FOLDERS = ["base", "atproto", "wire", "net", "storage", "messages", "actors",
           "simnet", "apps", "bench"]


def symbols(path, kinds):
    """Mangled names of these kinds of nm in an archive or program."""
    out = subprocess.run(["nm", "--defined-only", "-P", path], text=True,
                         capture_output=True, check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {x[0] for x in rows if len(x) > 1 and x[1] in kinds}


def demangle(names):
    names = list(names)
    out = subprocess.run(["c++filt"], input="\n".join(names), text=True,
                         capture_output=True, check=True).stdout
    return dict(zip(names, out.splitlines()))


def plain_name(text):
    """weir::storage::database::open, without parameters; None: no function of
    ours."""
    text = re.sub(r"\[abi:cxx11\]", "", text)
    depth, end = 0, len(text)
    for i, c in enumerate(text):
        if c == "<":
            depth += 1
        elif c == ">":
            depth -= 1
        elif c == "(" and depth == 0 and i > 0:
            end = i
            break
    name = text[:end].split(" ")[-1]
    return name if name.startswith("weir::") else None


def calls_of(root):
    """How often the sources of the product have each name before a parenthesis,
    comments aside."""
    out = Counter()
    for folder in FOLDERS:
        for path in glob.glob(f"{root}/{folder}/**/*.[ch]pp", recursive=True):
            with open(path, encoding="utf-8") as f:
                text = re.sub(r"//[^\n]*", "", f.read())
            out.update(re.findall(r"\b(operator\S+|\w+)\s*\(", text))
    return out


def read_allowed(path):
    out = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    name, _, reason = line.partition(" | ")
                    out[name.strip()] = reason.strip()
    return out


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("root")
    ask.add_argument("build")
    ask.add_argument("--libraries", nargs="*",
                     default=["*/libweir_*.a", "apps/*/libweir_*.a"])
    ask.add_argument("--programs", nargs="*",
                     default=["apps/weir/weir", "bench/weir-bench"])
    x = ask.parse_args()
    defined = set()
    for pattern in x.libraries:
        for path in glob.glob(os.path.join(x.build, pattern)):
            defined |= symbols(path, "T")
    reached = set()
    for path in x.programs:
        reached |= symbols(os.path.join(x.build, path), "TtWw")
    if not defined or not reached:
        sys.exit("nothing to look at: the libraries or the programs are not built")
    names = {k: plain_name(v) for k, v in demangle(defined).items()}
    last = lambda name: name.rsplit("::", 1)[-1]
    overloads = Counter(last(n) for n in set(filter(None, names.values())))
    calls = calls_of(x.root)
    reached_names = {names[k] for k in defined & reached}
    unused = set()
    for symbol in defined - reached:
        name = names[symbol]
        if name is None or name in reached_names or "~" in name:
            continue
        word = last(name)
        if word == name.rsplit("::", 2)[-2] or word == "operator=":
            continue
        if calls[word] <= 2 * overloads[word]:
            unused.add(name)
    allowed = read_allowed(f"{x.root}/cmake/unused_allowed.txt")
    faults = [f"{n}: no program reaches it" for n in sorted(unused)
              if n not in allowed]
    faults += [f"unused_allowed.txt: {n} is used, or is no more"
               for n in sorted(allowed) if n not in unused]
    faults += [f"unused_allowed.txt: {n} has no reason"
               for n, why in sorted(allowed.items()) if not why]
    if faults:
        sys.exit("unused functions:\n  " + "\n  ".join(faults))


if __name__ == "__main__":
    main()
