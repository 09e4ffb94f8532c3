# Short names for what CMakeLists.txt and CMakePresets.json do. Every target first
# installs what it needs (Debian 12; apt, through sudo when not root).

JOBS    ?= $(shell nproc)
# Most system tests wait for a timer of the node for most of their time.
TEST_JOBS ?= $(shell expr 2 '*' $(JOBS))
PREFIX  ?= /usr/local
RELEASE := build/release
WEIR    := $(RELEASE)/apps/weir/weir
SOURCES := git ls-files --cached --others --exclude-standard \
             '*.cpp' '*.hpp' ':!tests/data'

# The rules of actors are the files of the library `machines`.
COVERED := atproto/ storage/ net/address_guard \
           $(shell sed -n '/^weir_module(machines/,/)/p' actors/CMakeLists.txt \
             | grep -oE '[a-z_]+/[a-z_]+\.[ch]pp' | sed 's|^|actors/|')

.PHONY: all demo check check-long check-real check-package \
        check-image bench bench-disk fuzz mutants mutants-rows coverage format tidy install package \
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

# Runs a node against the simulated network and compares all copies with their
# sources; FOREVER=1 keeps it running.
demo: programs
	$(WEIR) demo $(if $(FOREVER),--forever)

# Every test that needs no download.
check: everything
	ctest --preset check --parallel $(TEST_JOBS) \
	  --output-junit $(CURDIR)/build/check.xml

# Every fuzzer for FUZZ_SECONDS (60); TARGETS="cbor car" runs some of them.
fuzz: setup
	@cmake/install_packages tools
	@cmake --preset fuzz --log-level=WARNING
	cmake --build --preset fuzz --parallel $(JOBS)
	JOBS=$(JOBS) tests/fuzz/run.sh $(TARGETS)

# The long forms of tests: every fuzzer, faults at every call and in every byte of
# the disk, large repos and many repos, an idle hour, and KILLS kills (1000).
check-long: everything fuzz
	WEIR_PARTITIONS=4 $(RELEASE)/tests/system/system_test
	WEIR_DISK_STEP=1 WEIR_DISK_SEEDS=10 WEIR_DISK_FLIPS=1000000000 \
	  $(RELEASE)/tests/unit/storage/storage_test --gtest_filter='Disk*'
	CAR_MIB=900 REPOS=100000 NAMES=200000 RECORDS=10000000 \
	  $(RELEASE)/tests/system/system_test \
	  --gtest_filter='Memory*:HostileIdentityTest.AFlood*'
	RECORDS=10000001 $(RELEASE)/tests/system/system_test \
	  --gtest_filter='MemoryBoundTest.ARepo*'
	ACCOUNTS=100000 $(RELEASE)/tests/system/system_test \
	  --gtest_filter='QuietCrowdTest.*'
	QUIET_SECONDS=3600 PLC_DEFAULT=1 SYNC_SECONDS=3600 \
	  $(RELEASE)/tests/system/system_test --gtest_filter='PopulationTest.*'
	KILLS=$(or $(KILLS),1000) $(RELEASE)/tests/system/system_test \
	  --gtest_filter='*KillTest*'

# Puts faults into a copy of the tree, which the simulator has to find
# (tests/mutants/README.md); MUTANTS="a b" tries some of them.
mutants: setup
	JOBS=$(JOBS) tests/mutants/run.sh $(MUTANTS)

# Removes rules of docs/requirements.md from a copy of the tree; the test that the
# row names has to fail. MUTANTS="a b" tries some of them.
mutants-rows: setup
	JOBS=$(JOBS) tests/mutants/rows.sh $(MUTANTS)

# Which lines the tests of the rules run. tests/coverage.py checks that enough did,
# and every refusal; build/coverage/lines.txt lists those that did not run.
coverage: setup
	@cmake/install_packages tools
	@cmake --preset coverage --log-level=WARNING
	cmake --build --preset coverage --parallel $(JOBS)
	find build/coverage -name '*.gcda' -delete
	ctest --preset coverage --parallel $(JOBS)
	gcovr --root . --object-directory build/coverage -j $(JOBS) \
	  $(addprefix --filter ,$(COVERED)) --exclude-throw-branches \
	  --json build/coverage/lines.json --txt build/coverage/lines.txt
	tests/coverage.py build/coverage/lines.json

# The package in a clean Debian, and published servers and clients from npm.
check-real: programs check-package
	cmake --build --preset release --parallel $(JOBS) --target differential
	@cmake/install_packages real
	@command -v npm >/dev/null || cmake/install_packages node
	tests/real/run.sh

# Installs, upgrades and removes the package in a clean Debian 12. Needs root
# (through sudo).
check-package: package
	@cmake/install_packages cleanroot
	tests/package/run.sh $(RELEASE)/package/weir_*.deb

# Builds and runs the image of conf/Containerfile, on a base image that is made here.
check-image: package
	@cmake/install_packages cleanroot image
	tests/package/image.sh $(RELEASE)/package/weir_*.deb

# The figures of docs/benchmarks.md; ARGS="live --repeats 5" measures some of them.
bench: programs
	$(RELEASE)/bench/weir-bench $(if $(ARGS),$(ARGS),all)

# The figures of "How much disk" in docs/operations.md; ARGS="--growth 30" also
# measures the growth per day in 30 minutes.
bench-disk: programs
	bench/disk.py $(ARGS)

format:
	@cmake/install_packages tools
	$(SOURCES) | xargs -r clang-format-14 -i

# Without precompiled headers, because those of GCC cannot be read by clang.
tidy: setup
	@cmake/install_packages tools
	@cmake --preset dev -B build/tidy -DWEIR_PCH=OFF -DWEIR_UNITY=OFF --log-level=WARNING
	$(SOURCES) ':!*.hpp' ':!tests' ':!bench' \
	  | xargs -r -n 1 -P $(JOBS) clang-tidy-14 -p build/tidy --quiet

install: programs
	cmake --install $(RELEASE) --prefix $(PREFIX)

# build/release/package/weir_VERSION_ARCHITECTURE.deb
package: programs
	@cmake/install_packages package
	rm -rf $(RELEASE)/package
	cpack --config $(RELEASE)/CPackConfig.cmake -B $(CURDIR)/$(RELEASE)/package
