# SPDX-License-Identifier: Apache-2.0
# Front door. Everything here is one or two commands that also work by hand; see docs/contributing.md.
PRESET ?= release
BUILD  := build/$(PRESET)
JOBS   ?= $(shell nproc)
SOURCES = $(shell git ls-files -co --exclude-standard '*.h' '*.cpp')

CONFIGURE = test -f $(BUILD)/build.ninja || cmake --preset $(PRESET) >/dev/null

.PHONY: help setup build train test examples bench bench-page bench-peers format check-format lint install clean

help:            ## this list
	@grep -hE '^[a-z-]+: .*##' Makefile | sed -E 's/:[^#]*##/\t/' | expand -t 16

setup:           ## install the Debian packages that are missing
	@tools/setup.sh

build: setup     ## compile library, command, examples and tests
	@$(CONFIGURE)
	@cmake --build $(BUILD) -j $(JOBS)

train: setup     ## train the main example, a classifier on Fashion-MNIST
	@$(CONFIGURE)
	@cmake --build $(BUILD) -j $(JOBS) --target tightloop_cli
	$(BUILD)/cli/tightloop train examples/fashion_mnist/job.toml

test: build      ## build and run all tests
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

bench: setup     ## the benchmark table, beside PyTorch, JAX and TensorFlow where they are installed
	@$(CONFIGURE)
	@cmake --build $(BUILD) -j $(JOBS) --target tightloop_cli
	@bench/run.py --tightloop $(BUILD)/cli/tightloop

bench-page:      ## docs/benchmarks.md from bench/results
	@bench/page.py

bench-peers:     ## install PyTorch, JAX and TensorFlow for the benchmark in build/peers (several GB)
	@bench/setup_peers.sh

format:          ## format all sources in place
	@clang-format -i $(SOURCES)

check-format:    ## say what format would change
	@clang-format --dry-run -Werror $(SOURCES)

lint: check-format ## check format, and clang-tidy on the files changed in the last commit
	@tools/tidy.py $(BUILD)

install: build   ## install below PREFIX (default /usr/local)
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:           ## remove this preset's build folder
	rm -rf $(BUILD)
