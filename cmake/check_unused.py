#!/usr/bin/env python3
"""Names functions of the product that no program of it reaches: only tests call
them, or nobody does. Names constants and enumerators of its headers that only
tests use, too.

  check_unused.py ROOT BUILD [--libraries GLOB...] [--product PATH...]
                  [--helpers PATH...]

Functions of libraries are found by the linker: it leaves out of a program what it
does not reach (-ffunction-sections, --gc-sections). So a function that a library
defines, and that none of the programs has, is called by nobody or was inlined into
all its callers. The second kind is told apart by the sources: their text has its
name before a parenthesis more often than to declare and to define it. What the
benchmark alone reaches is no part of the product, except in `simnet` and `bench`
themselves.

Functions with a body in a header have no symbol when nobody calls them. For each of
them, its name has to be used in a file that includes the header, or in one that the
header includes, for a template.

The name of an enumerator or a constant has to occur a second time outside tests. A
label `case x:` does not count: it does not make the value.

In all cases one whose name others have, too, may be overlooked; one that is
reported is unused. An assignment that stands beside a move constructor is not looked
at, nor is an override, which is called by the name of what it overrides.

cmake/unused_allowed.txt lists those that may be unused: "name | reason", where * is
any text. What a header contains is named by header and name.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch

PRODUCT = ["base", "atproto", "wire", "net", "storage", "messages", "actors", "apps"]
HELPERS = ["simnet", "bench"]


# -- sources -------------------------------------------------------------------

def read_sources(root, folders):
    """Texts by path, as they are."""
    out = {}
    for folder in folders:
        for path in glob.glob(f"{root}/{folder}/**/*.[ch]pp", recursive=True):
            with open(path, encoding="utf-8") as f:
                out[os.path.relpath(path, root)] = f.read()
    return out


def code_of(text):
    """Without comments and without what stands in quotes."""
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', '""', text)


# -- what the linker leaves out ------------------------------------------------

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


def left_out(defined, programs, sources):
    """The functions among `defined` that no program has and no source calls."""
    reached = set()
    for path in programs:
        reached |= symbols(path, "TtWw")
    if not defined or not reached:
        sys.exit("nothing to look at: the libraries or the programs are not built")
    calls = Counter()
    for text in sources.values():
        calls.update(re.findall(r"\b(operator\S+|\w+)\s*\(", code_of(text)))
    names = {k: plain_name(v) for k, v in demangle(defined).items()}
    last = lambda name: name.rsplit("::", 1)[-1]
    overloads = Counter(last(n) for n in set(filter(None, names.values())))
    reached_names = {names[k] for k in defined & reached}
    out = set()
    for symbol in defined - reached:
        name = names[symbol]
        if name is None or name in reached_names or "~" in name:
            continue
        word = last(name)
        if word == name.rsplit("::", 2)[-2] or word == "operator=":
            continue
        if calls[word] <= 2 * overloads[word]:
            out.add(name)
    return out


# -- functions with a body in a header -----------------------------------------

# A name, parameters, what may follow them, and the body.
INLINE = re.compile(
    r"(?P<type>[\w>&*]\s+|\s[&*])(?P<name>\w+)\s*"
    r"\((?:[^(){};]|\([^(){};]*\)|\{\})*\)"
    r"(?P<after>(?:\s|const\b|noexcept\b|override\b|final\b|&"
    r"|->\s*[\w:<>,\s*&]+|requires[^{;]*)*)\{")
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "else", "throw",
            "case", "new", "delete", "do", "not", "and", "or", "operator",
            "co_return", "sizeof", "decltype", "explicit"}
# Called by the language, or by the standard library, CAF, cereal and Boost.
BY_OTHERS = {"begin", "end", "inspect", "load", "save", "serialize", "what",
             "throw_exception_from_error"}


def inline_functions(code):
    """Names, and whether each is a member, which is indented."""
    for x in INLINE.finditer(code):
        before = re.search(r"\w+$", x["type"].rstrip())
        if before and before[0] in KEYWORDS or x["name"] in KEYWORDS | BY_OTHERS:
            continue
        if "override" not in x["after"]:
            line = code.rfind("\n", 0, x.start("name")) + 1
            yield x["name"], code[line].isspace()


def is_used(name, member, code):
    """Whether it is called, or named without a call: a member as x::name."""
    for x in re.finditer(rf"\b{name}\b((?:<[^;(){{}}]*>)?\s*\()?", code):
        before = code[max(0, x.start() - 80):x.start()]
        word = re.search(r"(\w+)\s+$", before)
        declared = (word and word[1] not in KEYWORDS
                    or re.search(r"[\w>][&*>]+\s+$", before)
                    and not re.search(r"(->|&&)\s+$", before))
        if not declared if x[1] else not member or before.endswith("::"):
            return True
    return False


def unused_inline(sources, folders):
    """"header name" of each function in a header of these folders that nobody
    names."""
    code = {path: code_of(text) for path, text in sources.items()}
    included = {path: [x for x in re.findall(r'#include "([^"]+)"', text)
                       if x in sources] for path, text in sources.items()}
    seen_by, sees, words = defaultdict(set), {}, defaultdict(set)
    for path in sources:
        sees[path], todo = {path}, [path]
        while todo:
            fresh = set(included[todo.pop()]) - sees[path]
            sees[path] |= fresh
            todo += fresh
        for x in sees[path]:
            seen_by[x].add(path)
        for word in set(re.findall(r"\w+", code[path])):
            words[word].add(path)
    headers = (x for x in sources
               if x.endswith(".hpp") and x.split("/")[0] in folders)
    return {f"{path} {name}" for path in headers
            for name, member in set(inline_functions(code[path]))
            if not any(is_used(name, member, code[x])
                       for x in words[name] & (seen_by[path] | sees[path]))}


# -- enumerators and constants --------------------------------------------------

ENUM = re.compile(r"\benum\s+(?:class\s+)?\w*[^;{(]*\{([^}]*)\}")
ENUMERATOR = re.compile(r'(?:^|,)\s*(?:""\s*)*(\w+)')
CONSTANT = re.compile(r"\bconstexpr\s+(?:[\w:]+(?:<[^;=]*>)?\s+[*&]?)+?(\w+)"
                      r"(?:\[\])?\s*[={;]")
LABEL = re.compile(r"\bcase\s+(?:\w+::)*\w+\s*:(?!:)")


def unused_values(sources, folders):
    """"header name" of each enumerator and constant in a header of these folders
    whose name occurs nowhere else."""
    code = {path: LABEL.sub("", code_of(text)) for path, text in sources.items()}
    words = Counter(x for text in code.values() for x in re.findall(r"\w+", text))
    return {f"{path} {name}" for path, text in code.items()
            if path.endswith(".hpp") and path.split("/")[0] in folders
            for name in CONSTANT.findall(text)
            + [x for body in ENUM.findall(text) for x in ENUMERATOR.findall(body)]
            if words[name] == 1}


# -- the report ----------------------------------------------------------------

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
    ask.add_argument("--product", nargs="*", default=["apps/weir/weir"])
    ask.add_argument("--helpers", nargs="*", default=["bench/weir-bench"])
    x = ask.parse_args()
    ours, others = set(), set()
    for pattern in x.libraries:
        for path in glob.glob(os.path.join(x.build, pattern)):
            folder = os.path.relpath(path, x.build).split("/")[0]
            (others if folder in HELPERS else ours).update(symbols(path, "T"))
    product = [os.path.join(x.build, path) for path in x.product]
    helpers = [os.path.join(x.build, path) for path in x.helpers]
    sources = read_sources(x.root, PRODUCT + ["simnet"])
    everything = sources | read_sources(x.root, ["bench"])
    unused = left_out(ours, product, sources)
    unused |= unused_inline(sources, PRODUCT)
    unused |= unused_values(everything, PRODUCT)
    if others:
        unused |= left_out(others, product + helpers, everything)
        unused |= unused_inline(everything, HELPERS)
    allowed = read_allowed(f"{x.root}/cmake/unused_allowed.txt")
    faults = [f"{n}: no program reaches it" for n in sorted(unused)
              if not any(fnmatch(n, entry) for entry in allowed)]
    faults += [f"unused_allowed.txt: {n} is used, or is no more"
               for n in sorted(allowed)
               if not any(fnmatch(name, n) for name in unused)]
    faults += [f"unused_allowed.txt: {n} has no reason"
               for n, why in sorted(allowed.items()) if not why]
    if faults:
        sys.exit("unused:\n  " + "\n  ".join(faults))


if __name__ == "__main__":
    main()
