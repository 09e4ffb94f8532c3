# Thin: the work is in CMakeLists.txt and CMakePresets.json. Every target sets
# up what it needs first (Debian 12; apt through sudo when not root).

JOBS    ?= $(shell nproc)
PREFIX  ?= /usr/local
RELEASE := build/release
WEIR    := $(RELEASE)/apps/weir/weir
SOURCES := git ls-files --cached --others --exclude-standard \
             '*.cpp' '*.hpp' ':!tests/data'

.PHONY: all demo check check-long check-real bench fuzz format tidy install \
        setup configure programs everything

all: programs

setup:
	@cmake/install_packages build libraries tests

configure: setup
	@cmake --preset release --log-level=WARNING

programs: configure
	cmake --build --preset programs --parallel $(JOBS)

everything: configure
	cmake --build --preset release --parallel $(JOBS)

# The whole job against the simulated network; FOREVER=1 keeps it up.
demo: programs
	$(WEIR) demo $(if $(FOREVER),--forever)

# Every test that needs no download.
check: everything
	ctest --preset check --parallel $(JOBS) \
	  --output-junit $(CURDIR)/build/check.xml

# Every fuzzer: FUZZ_SECONDS each (60), TARGETS="cbor car" for some of them.
fuzz: setup
	@cmake/install_packages tools
	@cmake --preset fuzz --log-level=WARNING
	cmake --build --preset fuzz --parallel $(JOBS)
	JOBS=$(JOBS) tests/fuzz/run.sh $(TARGETS)

# The long forms: every fuzzer, and KILLS kills (1000).
check-long: everything fuzz
	KILLS=$(or $(KILLS),1000) $(RELEASE)/tests/system/system_test \
	  --gtest_filter='*KillTest*'

# The published servers and clients, from npm.
check-real: programs
	cmake --build --preset release --parallel $(JOBS) --target differential
	@cmake/install_packages real
	@command -v npm >/dev/null || cmake/install_packages node
	tests/real/run.sh

# Every figure of docs/benchmarks.md; ARGS="live --repeats 5" for some of them.
bench: programs
	$(RELEASE)/bench/weir-bench $(if $(ARGS),$(ARGS),all)

format:
	@cmake/install_packages tools
	$(SOURCES) | xargs -r clang-format-14 -i

# Precompiled headers are GCC's own; clang reads the plain ones.
tidy: setup
	@cmake/install_packages tools
	@cmake --preset dev -B build/tidy -DWEIR_PCH=OFF --log-level=WARNING
	$(SOURCES) ':!*.hpp' ':!tests' ':!bench' \
	  | xargs -r -n 1 -P $(JOBS) clang-tidy-14 -p build/tidy --quiet

install: programs
	cmake --install $(RELEASE) --prefix $(PREFIX)
