# SPDX-License-Identifier: GPL-2.0
# WALE and RATCP: everything that can be made.  `make help` lists it.
#
#   KDIR=DIR     build tree or headers of the kernel to build modules for
#   ARCH=um      that kernel is a User-Mode Linux one
#   KERNEL=V     kernel line of the uml engine, such as 6.12 (default: newest), or 6.12+san
#   SAN=1        the same with sanitizers: KERNEL=V+san
#   KERNELS="V..."   check with each of these, such as "6.1 6.12 7.2"; check-vm (default: 6.1 6.12)
#   PREFIX, DESTDIR    as usual, for install and uninstall
#   PYTEST_ARGS  more words for pytest, such as -x or -k accuracy
#   STUDY=NAME   tables and figures for the report, such as karnik-kumar/table1 (default: all)
#   QUICK=1      fewer and shorter runs of them, or of the benchmarks
#   JOBS=N       runs, or files of tests, at once (default: all cores; for tests, 8 at most)
#   FUZZ_SECONDS=N     for each fuzz target (default: 20)
#   MESSAGES=N SEED=S  what fuzz-kernel sends (default: 1000000, 1)
#   REPEATS=N    how often check-programs runs each (default: 20)
#   BENCH_ARGS   words for the benchmarks, such as "--rounds 9 --json"

VERSION := 1.0.0

include testbed/setup/paths.mk

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
OUT ?= out
RESULTS ?= results
KERNEL ?=
MESSAGES ?= 1000000
SEED ?= 1
# Files of tests side by side, in the order of conftest.py; the tests of a file one after the other.
SIDE_BY_SIDE = -n $(or $(JOBS),logical --maxprocesses 8) --dist loadfile --no-loadscope-reorder
# Kernels whose packaged headers are installed.
STOCK_KDIRS = $(wildcard /usr/src/linux-headers-*-amd64 /usr/src/linux-headers-*-arm64)

SAN_KERNEL := $(filter-out +%,$(subst +, +,$(KERNEL)))+san
ifeq ($(SAN),1)
override KERNEL := $(SAN_KERNEL)
endif

ARCH_ARG := $(if $(ARCH),ARCH=$(ARCH))
KERNEL_ARG := $(if $(KERNEL),--kernel $(KERNEL))

##@ Start here

demo: packages	## a real file crosses an emulated link, with three congestion controls
	@testbed/wale-lab run demo $(KERNEL_ARG) --out $(OUT)/demo --plot

report: packages userspace kernel	## papers repeated: measured, published and computed, side by side
	@testbed/wale-lab study $(or $(STUDY),all) $(if $(QUICK),--quick) $(if $(JOBS),-j $(JOBS)) \
		$(KERNEL_ARG) --results $(RESULTS); status=$$?; \
	testbed/wale-lab report --results $(RESULTS) && exit $$status

check: packages-check userspace kernel kernel-san	## every test; the last line is 'N passed, N failed, N skipped'
	@$(RECORD) $(if $(KERNELS),testbed/setup/check-kernels $(KERNELS) -- $(SIDE_BY_SIDE) $(PYTEST_ARGS),\
		WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m pytest $(SIDE_BY_SIDE) $(PYTEST_ARGS))

# One more than there are processors, since some of these tests wait for a second or two.
test: JOBS := $(or $(JOBS),$(shell n=$$(nproc); echo $$((n < 8 ? n + 1 : 8))))
test: packages-check userspace kernel	## the fast ones: what needs no guest, and KUnit in one
	@WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m pytest $(SIDE_BY_SIDE) -m fast $(PYTEST_ARGS)

release-check:	## at a tag: all kernels, sanitizers, virtual machines; and Documentation/tested.rst
	@git describe --tags --exact-match >/dev/null 2>&1 || { \
		echo "release-check: expected a commit with a tag, such as v$(VERSION)" >&2; exit 2; }
	@$(MAKE) check KERNELS="6.12 6.1 7.2" RECORD=WALE_TESTED=build/tested
	@$(MAKE) check SAN=1 RECORD=WALE_TESTED=build/tested
	@$(MAKE) check-vm RECORD=WALE_TESTED=build/tested
	@$(MAKE) tested-table

coverage: packages-check userspace	## which lines of the modules and of the C programs make check reaches
	@testbed/wale-lab python testbed/setup/coverage.py $(PYTEST_ARGS)

tested-table: packages	## Documentation/tested.rst, from what `make release-check` wrote down
	@testbed/wale-lab python -m wale_lab.report.tested Documentation/tested $(wildcard build/tested/*.json) >build/tested.rst
	@mv build/tested.rst Documentation/tested.rst

formulas-table: packages	## Documentation/formulas.rst, from `make report` in full (RESULTS=DIR)
	@mkdir -p build; testbed/wale-lab python -m wale_lab.report.formulas $(RESULTS) >build/formulas.rst
	@mv build/formulas.rst Documentation/formulas.rst

check-vm: packages-check packages-vm userspace	## stock kernels, two CPUs, under QEMU (KERNELS="6.1 6.12")
	@$(RECORD) WALE_VM_KERNELS="$(or $(KERNELS),6.1 6.12)" \
	testbed/wale-lab python -m pytest -m vm $(PYTEST_ARGS) testbed/tests/test_vm.py

programs: packages-programs	## QUIC transfers with quic-go, quinn and quiche, into the cache (needs go, cargo)
	@testbed/setup/build-programs

check-programs: packages-check userspace kernel programs	## their scenarios, each 20 times (REPEATS=N)
	@WALE_REPEATS=$(or $(REPEATS),20) WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m pytest -m programs $(PYTEST_ARGS)

generate: packages-check	## what follows from the contract of the qdisc (Documentation/netlink/specs/sch_wale.yaml)
	@testbed/wale-lab python testbed/codegen

upstream: packages-check	## the tree as patches for Linux and iproute2, into build/upstream (KERNEL=7.2)
	@testbed/wale-lab python testbed/upstream $(KERNEL_ARG)

check-upstream: packages-check userspace kernel	## apply these patches, build them one by one, boot them (KERNEL=7.2)
	@testbed/wale-lab python testbed/upstream/check.py $(KERNEL_ARG)

check-arch: packages-check packages-arch	## build for arm64, arm, s390 and x86, and boot all but arm (KERNEL=6.12)
	@testbed/wale-lab python testbed/upstream/arches.py $(KERNEL_ARG)

lint: packages-check kernel	## checkpatch, sparse, W=1, clang-format, ruff, mypy, shellcheck
	@WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m pytest -m lint $(PYTEST_ARGS)

fuzz: fuzz-userspace fuzz-kernel	## inputs at random, into parsers, arithmetic and modules (FUZZ_SECONDS=N for each parser)

fuzz-userspace: packages-check
	@JOBS=$(or $(JOBS),$(shell nproc)) userspace/fuzz/run $(or $(FUZZ_SECONDS),20)

check-deb: packages-deb	## the Debian packages, in a clean Debian (as root)
	@testbed/wale-lab python -m pytest -m deb $(PYTEST_ARGS)

bench: packages userspace kernel	## what a packet costs by qdisc, an ACK by congestion control, and paths (BENCH_ARGS=--help)
	@WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m wale_lab.bench $(if $(QUICK),--quick) \
		--results $(RESULTS) $(BENCH_ARGS)

bench-programs: packages-check userspace kernel programs	## wall time against virtual time, for scenarios of real programs
	@WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m wale_lab.bench.programs

bench-guests: packages-check userspace kernel	## what an experiment costs in several guests and on several machines
	@WALE_KERNEL=$(KERNEL) testbed/wale-lab python -m wale_lab.bench.guests $(if $(QUICK),--quick)

fuzz-kernel: packages userspace	## messages, good and bad, to the modules in a guest with sanitizers
	@testbed/wale-lab python -m wale_lab.fuzz --messages $(MESSAGES) --seed $(SEED) \
		--kernel $(if $(findstring +,$(KERNEL)),$(KERNEL),$(KERNEL)+san)

help:	## this list
	@awk -f testbed/setup/make-help.awk $(firstword $(MAKEFILE_LIST))

##@ Build

modules:	## kernel modules, for the kernel of KDIR (default: the running one)
	@:$(call plain_word,KDIR)
	@testbed/setup/build-modules "$(KDIR)" $(ARCH)

modules-stock:	## kernel modules, for each kernel whose headers are installed
	@set -e; for kdir in $(STOCK_KDIRS); do testbed/setup/build-modules $$kdir; done

userspace: packages	## tc plugin and the wale command
	@$(MAKE) -C userspace

kernel: packages	## the kernel of the uml engine, into the cache
	@set -e; for kernel in $(or $(KERNELS),$(KERNEL),""); do \
		testbed/wale-lab kernel --kernel "$$kernel" >/dev/null; done

kernel-san: packages	## the same with what finds mistakes (KASAN, lockdep and more)
	@testbed/wale-lab kernel --kernel $(SAN_KERNEL) >/dev/null

packages:	## install what is missing to run things (asks for root only then)
	@testbed/setup/install-packages testbed/setup/packages.txt

packages-check:	## install what is missing to test things
	@testbed/setup/install-packages testbed/setup/packages.txt testbed/setup/packages-check.txt

packages-deb:	## install what is missing to build and test the Debian packages
	@testbed/setup/install-packages testbed/setup/packages.txt testbed/setup/packages-deb.txt

packages-programs:	## install what is missing to build the programs of scenarios
	@testbed/setup/install-packages testbed/setup/packages-programs.txt

packages-arch:	## install what is missing to build for other processors
	@testbed/setup/install-packages testbed/setup/packages-arch.txt

packages-vm:	## install what is missing to boot stock kernels
	@testbed/setup/install-packages testbed/setup/packages-vm.txt

##@ Install (DESTDIR and PREFIX are obeyed)

install: userspace	## tc plugin, wale, man pages, headers, wale-lab; and the modules if there are headers
	@:$(call absolute_word,PREFIX)$(call absolute_word,DESTDIR,spaces)$(call plain_word,KDIR)
	@$(MAKE) -C userspace install PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"
	@testbed/setup/install-lab install "$(PREFIX)" "$(DESTDIR)"
	@testbed/setup/install-modules install "$(KDIR)" "$(DESTDIR)"

uninstall:	## remove what install put there
	@:$(call absolute_word,PREFIX)$(call absolute_word,DESTDIR,spaces)$(call plain_word,KDIR)
	@$(MAKE) -C userspace uninstall PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"
	@testbed/setup/install-lab uninstall "$(PREFIX)" "$(DESTDIR)"
	@testbed/setup/install-modules uninstall "$(KDIR)" "$(DESTDIR)"

wheel: packages	## the Python package wale_lab, for pip, into dist
	@rm -f dist/wale_lab-*.whl
	@testbed/wale-lab python -m pip wheel --quiet --no-deps --wheel-dir dist .

deb: packages-deb	## Debian packages wale-dkms, wale-tools, wale-dev and python3-wale-lab, into build/deb
	@testbed/setup/build-deb

clean:	## remove build/, dist/, out/ and results/ (the cached kernel stays)
	rm -rf build dist out results

.PHONY: demo report test check release-check check-vm check-deb check-programs programs bench-programs bench-guests packages-programs coverage tested-table formulas-table upstream check-upstream check-arch lint fuzz fuzz-userspace fuzz-kernel \
	bench help modules modules-stock userspace kernel kernel-san packages packages-check \
	packages-vm packages-arch packages-deb install uninstall wheel deb clean
