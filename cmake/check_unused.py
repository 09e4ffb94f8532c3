#!/usr/bin/env python3
"""Names functions of the product that no program of it reaches: only tests call
them, or nobody does. Names constants and enumerators of its headers that only
tests use, too.

  check_unused.py ROOT BUILD [--libraries GLOB...] [--product PATH...]
                  [--helpers PATH...]

Functions of libraries are found by the linker: it leaves out of a program what it
does not reach (-ffunction-sections, --gc-sections). So a function that a library
defines, and that none of the programs has, is called by nobody or was inlined into
all its callers. The second kind is told apart by the sources: a file that includes
its header calls it. When other classes have a function of its name, too, then what
it is called on must be declared with its class. What the benchmark alone reaches is
no part of the product, except in `simnet` and `bench` themselves.

Functions with a body in a header have no symbol when nobody calls them. For each of
them, its name has to be used in a file that includes the header, or in one that the
header includes, for a template. A member whose name others have has to be called by
what can be of its class, too, if this is no template.

The name of an enumerator or a constant has to occur a second time outside tests. A
label `case x:` does not count: it does not make the value.

In all cases one whose name others have, too, may be overlooked. One that is reported
is unused, unless it is called on something whose class a reader of these lines could
not tell either: then its declaration should name the class. An assignment that stands
beside a move constructor is not looked at, nor is an override, which is called by the
name of what it overrides.

cmake/unused_allowed.txt lists those that may be unused: "name | reason", where * is
any text. What a header contains is named by header and name.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from bisect import bisect
from collections import Counter, defaultdict
from fnmatch import fnmatch
from functools import cache

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


# Functions of the standard library, which any text may call.
STANDARD = {"at", "back", "clear", "close", "contains", "count", "data", "empty",
            "erase", "find", "front", "get", "insert", "load", "name", "open",
            "pop", "push", "read", "release", "reset", "size", "store", "str",
            "swap", "wait", "write"}


def before_call(code, end):
    """What a member is called on: the words before the `.` or `->` at `end`, and
    those in brackets among them."""
    at, depth = end, 0
    while at > 0:
        c = code[at - 1]
        if c in ")]" or c == ">" and code[at:at + 1] == "(":
            depth += 1
        elif c in "([<" and depth > 0:
            depth -= 1
        elif depth == 0 and not (c.isalnum() or c == "_"):
            break
        at -= 1
    return code[at:end]


class code_tree:
    """Sources without comments, and which of them see which."""

    def __init__(self, sources):
        self.code = {path: code_of(text) for path, text in sources.items()}
        included = {path: [x for x in re.findall(r'#include "([^"]+)"', text)
                           if x in sources] for path, text in sources.items()}
        self.seen_by, self.sees = defaultdict(set), {}
        self.words = defaultdict(set)
        for path in sources:
            self.sees[path], todo = {path}, [path]
            while todo:
                fresh = set(included[todo.pop()]) - self.sees[path]
                self.sees[path] |= fresh
                todo += fresh
            for x in self.sees[path]:
                self.seen_by[x].add(path)
            for word in set(re.findall(r"\w+", self.code[path])):
                self.words[word].add(path)

    def calls(self, owner, word):
        """Whether a source calls the function of this class or namespace."""
        homes = self.homes(owner)
        if not homes & self.words[word]:
            homes = {x for x in self.words[word] if re.search(
                rf"^(?!\s)[^;{{}}()]*[\s&*]{word}\s*\(", self.code[x], re.M)}
            return any(self.bare_call(x, word)
                       for home in homes for x in self.words[word]
                       & (self.seen_by[home] | {home}))
        types, holders, own = self.holders(owner)
        if any(self.bare_call(x, word) for x in own & self.words[word]):
            return True
        if not self.is_common(word):
            holders = None
        files = set().union(*(self.seen_by[x] for x in homes))
        beside = set().union(*(self.sees[x] for x in files)) - files
        return (any(self.member_call(x, types, word, holders)
                    for x in files & self.words[word])
                or word not in STANDARD
                and any(self.member_call(x, set(), word, set())
                        for x in beside & self.words[word]))

    @cache
    def homes(self, owner):
        """The files that define the class."""
        kind = re.compile(rf"\b(class|struct)\s+(\w+::)*{owner}\b[^;(]*\{{")
        return {x for x in self.words[owner] if kind.search(self.code[x])}

    @cache
    def bare_call(self, path, word):
        """Whether the file calls it without a `.`, other than to define it."""
        code = self.code[path]
        for x in re.finditer(rf"(\w+::)*\b{word}\b(\s*\(|\s*[,)}}])", code):
            line = code[code.rfind("\n", 0, x.start()) + 1:x.start()]
            before = code[max(0, x.start() - 80):x.start()]
            defined = x.start() == 0 or not line[:1].isspace() and "{" not in line
            if not (defined or before.endswith((".", "->", "::"))
                    or is_declared(before)):
                return True
        return False

    def member_call(self, path, types, word, holders):
        """Whether the file calls or names it by what can be of its class, other
        than in its own definition: there it is passed on to a part."""
        code = re.sub(rf"^(?=\S)[^\n]*\b(?:{'|'.join(types) or '0'})::{word}"
                      r"\s*\([\s\S]*?^\}", "", self.code[path], flags=re.M)
        for x in re.finditer(rf"(\.|->)\s*(template\s+)?{word}\s*"
                             r"(<[^;(){}]*>\s*)?\(", code):
            if holders is None:
                return True
            said = set(re.findall(r"\w+", before_call(code, x.start())))
            if types and (not said or said & (holders | types | {"self", "this"})):
                return True
            if any(self.any_type(code, y, word) for y in said):
                return True
        kinds = "|".join(types | {r"[A-Z]\w*"})
        return re.search(rf"&(\w+::)*(?:{kinds})::{word}\b"
                         rf"|^.*[\s(!](\w+::)*(?:{kinds})::{word}\s*[(<]",
                         "\n".join(x for x in code.splitlines()
                                   if x[:1].isspace()), re.M) is not None

    @staticmethod
    def any_type(code, name, word):
        """Whether the name may be of any type, and so have this function: it is
        declared with a parameter of a template, or of a lambda."""
        either = (r"[(,;{]\s*(const\s+)?[A-Z]\w*[\s&*>]+%s\s*[;,)=]",
                  r"[(,]\s*(const\s+)?auto[\s&*]+%s\s*[,)]")
        return any(re.search(x % name, code)
                   for x in either[:1 if word in STANDARD else 2])

    @cache
    def is_common(self, word):
        """Whether several classes have a function of this name."""
        if word in STANDARD:
            return True
        return sum(any(is_declared(code[max(0, x.start() - 80):x.start()])
                       for x in re.finditer(rf"\b{word}\s*\(", code))
                   for code in (self.code[x] for x in self.words[word]
                                if x.endswith(".hpp"))) > 1

    @cache
    def autos(self, path):
        """What is declared with `auto` in a file: names, and what they are."""
        return re.findall(r"\bauto[\s&*]+(\w+|\[[\w\s,]+\])\s*[=:]\s*"
                          r"([^;{}]*?)\s*(?:;|\)\s*\{|\)\n)", self.code[path])

    @cache
    def holders(self, owner):
        """This class and those derived from it; names that are declared with one of
        them, or a pointer to or a container of one, and what is made of such a
        name; and the files of these classes."""
        out, types = set(), {owner}
        for path in self.words[owner]:
            types |= set(re.findall(rf"\busing\s+(\w+)\s*=[^;]*\b{owner}\b(?!::)",
                                    self.code[path]))
            types |= set(re.findall(
                rf"\b(?:class|struct)\s+(\w+)[^;{{]*:[^;{{]*\b{owner}\b[^;(]*\{{",
                self.code[path]))
        either = "|".join(types)
        for path in set().union(*(self.words[x] for x in types)):
            out |= set(re.findall(
                rf"\b(?:{either})\b(?:\s*(?:[>&*]|\bconst\b|,[^;(){{}}=]*>))*\s*"
                r"(\w+)\s*[;={(,)\[:]", self.code[path]))
        held = "|".join(out | types)
        made = re.compile(
            rf"(?:.*\?.*:\s*)?[*&]*(?:std::\w+<)?(?:\w+(?:\.|->|::))*(?:{held})\b"
            r"(?:>*\([^.]*\))?(?:\[.*\])?(?:(?:\.|->)"
            r"(?:at|back|begin|emplace|find|front|get|lock|value)\b.*)?$", re.S)
        for path in set().union(*(self.words[x] for x in out | types)):
            for said, value in self.autos(path):
                if made.match(value):
                    out |= set(re.findall(r"\w+", said))
        kind = re.compile(rf"\b(?:{either})::~?\w+\s*\("
                          rf"|\b(?:class|struct)\s+(?:{either})\b")
        files = set().union(*(self.words[x] for x in types))
        return types, out, {x for x in files if kind.search(self.code[x])}


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
    names = {k: plain_name(v) for k, v in demangle(defined).items()}
    reached_names = {names[k] for k in defined & reached}
    tree = code_tree(sources)
    out = set()
    for name in {names[k] for k in defined - reached} - reached_names:
        if name is None or "~" in name:
            continue
        owner, word = name.split("::")[-2:]
        if word != owner and word != "operator=" and not tree.calls(owner, word):
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


def classes_at(code):
    """The class in whose braces each place of the code is: pairs of a place and
    the class from there on. None for a template, whose calls look otherwise."""
    out, stack = [(0, "")], [""]
    kind = re.compile(r"(?P<template>\btemplate\s*<[^;{}]*>\s*)?\b(?:class|struct)\s+"
                      r"(?:\w+::)*(?P<name>\w+)[^;(){}]*\{|[{}]")
    for x in kind.finditer(code):
        if x[0] == "}":
            stack = stack[:-1] or [""]
        elif x[0] == "{":
            stack.append(stack[-1])
        else:
            none = x["template"] or stack[-1] is None
            stack.append(None if none else x["name"])
        out.append((x.end(), stack[-1]))
    return out


def inline_functions(code):
    """Names, whether each is a member, which is indented, and of which class."""
    places = classes_at(code)
    for x in INLINE.finditer(code):
        before = re.search(r"\w+$", x["type"].rstrip())
        if before and before[0] in KEYWORDS or x["name"] in KEYWORDS | BY_OTHERS:
            continue
        if "override" not in x["after"]:
            line = code.rfind("\n", 0, x.start("name")) + 1
            at = bisect([y[0] for y in places], x.start("name")) - 1
            yield x["name"], code[line].isspace(), places[at][1]


def is_declared(before):
    """Whether what follows this text is declared there: a type stands before."""
    word = re.search(r"(\w+)\s+$", before)
    return bool(word and word[1] not in KEYWORDS
                or re.search(r"[\w>][&*>]+\s+$", before)
                and not re.search(r"(->|&&)\s+$", before))


def is_used(name, member, code):
    """Whether it is called, or named without a call: a member as x::name."""
    for x in re.finditer(rf"\b{name}\b((?:<[^;(){{}}]*>)?\s*\()?", code):
        before = code[max(0, x.start() - 80):x.start()]
        if not is_declared(before) if x[1] else not member or before.endswith("::"):
            return True
    return False


def unused_inline(sources, folders):
    """"header name" of each function in a header of these folders that nobody
    names."""
    tree = code_tree(sources)
    headers = (x for x in sources
               if x.endswith(".hpp") and x.split("/")[0] in folders)
    out = set()
    for path in headers:
        for name, member, owner in set(inline_functions(tree.code[path])):
            used = any(is_used(name, member, tree.code[x]) for x in tree.words[name]
                       & (tree.seen_by[path] | tree.sees[path]))
            if used and member and owner and tree.is_common(name):
                used = tree.calls(owner, name)
            if not used:
                out.add(f"{path} {name}")
    return out


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
