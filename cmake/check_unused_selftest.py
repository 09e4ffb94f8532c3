#!/usr/bin/env python3
"""Proves that check_unused.py can fail: runs it on a tree of one library, made
here, and of programs that reach a part of it.

  check_unused_selftest.py COMPILER
"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "check_unused.py")

FILES = {
    "base/parts.hpp": """
namespace weir {
int reached(int x);
int inlined(int x); // Into `reached`: no symbol of it is left.
int only_tested(int x);
}
""",
    "base/parts.cpp": """
#include "base/parts.hpp"
namespace weir {
int inlined(int x) { return x + 1; }
int reached(int x) { return inlined(x) * 2; }
int only_tested(int x) { return x; } // only_tested(x) is no call here.
}
""",
    "apps/main.cpp": """
#include "base/parts.hpp"
int main(int n, char**) { return weir::reached(n); }
""",
    "tests/test.cpp": """
#include "base/parts.hpp"
int main(int n, char**) { return weir::only_tested(n) + weir::reached(n); }
""",
}


def make(root, compiler):
    for name, text in FILES.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def run(*command):
        subprocess.run(command, cwd=root, check=True)

    run(compiler, "-O2", "-ffunction-sections", "-I.", "-c", "base/parts.cpp",
        "-o", "base/parts.o")
    run("ar", "rcs", "base/libweir_base.a", "base/parts.o")
    for source, program in (("apps/main.cpp", "apps/main"),
                            ("tests/test.cpp", "tests/test")):
        run(compiler, "-O2", "-I.", source, "base/libweir_base.a",
            "-Wl,--gc-sections", "-o", program)


def report(root, *programs):
    """The faults that the check finds."""
    done = subprocess.run(
        [sys.executable, CHECK, root, root, "--programs", *programs],
        text=True, capture_output=True)
    faults = [x.strip() for x in done.stderr.splitlines() if x.startswith("  ")]
    if (done.returncode == 0) != (not faults):
        sys.exit(f"it ends with {done.returncode} and says:\n{done.stderr}")
    return faults


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found}, not {wanted}")


def main():
    fault = "weir::only_tested: no program reaches it"
    with tempfile.TemporaryDirectory() as root:
        make(root, sys.argv[1])
        expect("a function that tests alone call", report(root, "apps/main"),
               [fault])
        expect("one that a second program calls",
               report(root, "apps/main", "tests/test"), [])
        os.makedirs(os.path.join(root, "cmake"))
        for listed, wanted in (
                ("weir::only_tested | it is a tool of tests\n", []),
                ("weir::only_tested\n",
                 ["unused_allowed.txt: weir::only_tested has no reason"]),
                ("weir::reached | it was\n",
                 [fault, "unused_allowed.txt: weir::reached is used, or is no "
                         "more"])):
            with open(os.path.join(root, "cmake/unused_allowed.txt"), "w",
                      encoding="utf-8") as f:
                f.write("# name | reason\n" + listed)
            expect(listed, report(root, "apps/main"), wanted)


if __name__ == "__main__":
    main()
