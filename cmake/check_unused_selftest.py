#!/usr/bin/env python3
"""Proves that check_unused.py can fail: runs it on a tree of two libraries, made
here, and of programs that reach a part of them.

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
#pragma once
namespace weir {
int reached(int x);
int inlined(int x); // Into `reached`: no symbol of it is left.
int only_tested(int x);
template <class T> T twice(const T& x) { return x.doubled(); }
struct box {
  int value = 0;
  int shown() const noexcept { return value; }
  int peeked() const noexcept { return value; }
  box doubled() const { return {2 * value}; } // By `twice`, in another header.
  int size() const { return shown(); }
};
class shelf { // Its size is hidden by calls of that of a box.
public:
  int size() const;
private:
  int size_ = 0;
};
inline int applied(int x) { return x; } // Handed over without a call.
enum class color {
  red, // The first one.
  never_made = 3
};
constexpr int step = 1;
constexpr long never_read = 2; // never_read is no use.
}
""",
    "base/bag.hpp": """
#pragma once
namespace weir {
struct bag {
  int value = 0;
  int size() const { return value; } // As that of a shelf.
};
}
""",
    "base/parts.cpp": """
#include "base/bag.hpp"
#include "base/parts.hpp"
namespace weir {
static int number_of(color x) {
  switch (x) {
    case color::never_made:
      return 3;
    default:
      return 0;
  }
}
int inlined(int x) { return x + step + number_of(color::red); }
static int call(int (*f)(int), int x) { return f(x); }
int reached(int x) {
  box peeked{x}; // A variable of that name is no call.
  return call(applied, inlined(x)) * twice(peeked).size();
}
int only_tested(int x) { return x; } // only_tested(x) is no call here.
int shelf::size() const { return size_ + bag{}.value; }
}
""",
    "simnet/world.hpp": """
namespace weir {
int measured(int x);
int forgotten(int x);
}
""",
    "simnet/world.cpp": """
#include "simnet/world.hpp"
namespace weir {
int measured(int x) { return x; }
int forgotten(int x) { return x; }
}
""",
    "apps/main.cpp": """
#include "base/parts.hpp"
int main(int n, char**) { return weir::reached(n); }
""",
    "bench/main.cpp": """
#include "base/parts.hpp"
#include "simnet/world.hpp"
int main(int n, char**) {
  return weir::only_tested(n) + weir::measured(n) + weir::box{n}.peeked();
}
""",
    "tests/test.cpp": """
#include "base/parts.hpp"
int main(int n, char**) {
  const auto x = n > 2 ? weir::color::never_made : weir::color::red;
  return weir::only_tested(n) + weir::reached(n) + int(weir::never_read)
         + weir::shelf{}.size()
         + int(x);
}
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

    for library in "base/parts", "simnet/world":
        folder = os.path.dirname(library)
        run(compiler, "-O2", "-ffunction-sections", "-I.", "-c",
            library + ".cpp", "-o", library + ".o")
        run("ar", "rcs", f"{folder}/libweir_{folder}.a", library + ".o")
    for program in "apps/main", "bench/main", "tests/test":
        run(compiler, "-O2", "-I.", program + ".cpp", "base/libweir_base.a",
            "simnet/libweir_simnet.a", "-Wl,--gc-sections", "-o", program)


def report(root, product):
    """The faults that the check finds."""
    done = subprocess.run(
        [sys.executable, CHECK, root, root, "--product", product,
         "--helpers", "bench/main"], text=True, capture_output=True)
    faults = [x.strip() for x in done.stderr.splitlines() if x.startswith("  ")]
    if (done.returncode == 0) != (not faults):
        sys.exit(f"it ends with {done.returncode} and says:\n{done.stderr}")
    return faults


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found}, not {wanted}")


def main():
    inline = [f"base/{x}: no program reaches it"
              for x in ("bag.hpp size", "parts.hpp never_made",
                        "parts.hpp never_read", "parts.hpp peeked")]
    fault = "weir::only_tested: no program reaches it"
    shelf = "weir::shelf::size: no program reaches it"
    world = "weir::forgotten: no program reaches it"
    with tempfile.TemporaryDirectory() as root:
        make(root, sys.argv[1])
        expect("what tests and the benchmark alone call, and nobody",
               report(root, "apps/main"), inline + [world, fault, shelf])
        expect("a function that the program calls",
               report(root, "tests/test"), inline + [world])
        os.makedirs(os.path.join(root, "cmake"))
        others = ("base/parts.hpp peek* | tests look\n"
                  "*::size | tests count\n"
                  "base/bag.hpp size | tests count, too\n"
                  "base/parts.hpp never_* | tests are content with them\n"
                  "weir::forgotten | it will be called\n")
        for listed, wanted in (
                ("weir::only_tested | it is a tool of tests\n", []),
                ("weir::only_tested\n",
                 ["unused_allowed.txt: weir::only_tested has no reason"]),
                ("weir::reached | it was\n",
                 [fault, "unused_allowed.txt: weir::reached is used, or is no "
                         "more"])):
            with open(os.path.join(root, "cmake/unused_allowed.txt"), "w",
                      encoding="utf-8") as f:
                f.write("# name | reason\n" + others + listed)
            expect(listed, report(root, "apps/main"), wanted)


if __name__ == "__main__":
    main()
