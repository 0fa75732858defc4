# Commands for a fresh machine: `make demo`, `make test`, `make check`. Each makes `.venv` and installs Weft into it first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
N ?= 10000
FIRST ?= 1000000

.PHONY: help demo test check lit rest large test-cross fuzz bless clean
.DEFAULT_GOAL := help

help:
	@echo "make demo            compile and run SqueezeNet, beside ONNX Runtime"
	@echo "make test            the tests: lit, then pytest"
	@echo "make rest            of tests that are many of a kind, those of which make test takes a sample"
	@echo "make check           what is said of the code without running it: ruff, and pyright (strict)"
	@echo "make large           the tests that take long, such as models of full size, which make test leaves out"
	@echo "make test-cross      the tests of other processors, by emulators, which it installs (Debian's; as root)"
	@echo "make fuzz N=1000     that many random graphs and mutated files of each kind; FIRST=0 is where they begin"
	@echo "make bless T=NAME    rewrite the CHECK lines of the lit test NAME from what the tools print now"
	@echo "make clean           remove .venv and what was built"

demo: $(VENV)/with-demo
	@$(BIN)/python examples/demo.py

# What pytest says comes last: how many passed, and in how many seconds.
test: lit
	@$(BIN)/python -m pytest --quiet --numprocesses $(JOBS) --dist worksteal

lit: $(VENV)/with-dev
	@.ci/timed "lit" $(BIN)/lit --quiet --workers $(JOBS) test

check: $(VENV)/with-dev
	@.ci/timed "ruff check" $(BIN)/ruff check --quiet
	@.ci/timed "ruff format" $(BIN)/ruff format --check --quiet
	@.ci/timed "pyright" $(BIN)/pyright --pythonpath $(BIN)/python

rest: $(VENV)/with-dev
	@$(BIN)/python -m pytest --quiet --numprocesses $(JOBS) --dist worksteal -m rest

large: $(VENV)/with-dev
	@WEFT_CODEGEN_LEVEL=3 $(BIN)/python -m pytest --quiet --numprocesses $(JOBS) -m large

# What is not there and cannot be installed is skipped, with a word.
CROSS := qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross lld

test-cross: $(VENV)/with-dev
	@which qemu-aarch64 qemu-riscv64 aarch64-linux-gnu-gcc riscv64-linux-gnu-gcc wasm-ld >/dev/null || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(CROSS); } || true
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check wasmtime || true
	@$(BIN)/python -m pytest --quiet --numprocesses $(JOBS) -rs -m "" test/unit/test_other_machines.py

fuzz: $(VENV)/with-dev
	@$(BIN)/python -m pytest --quiet --numprocesses $(JOBS) test/fuzz --cases $(N) --first-case $(FIRST)

bless: $(VENV)/with-dev
	@test -n "$(T)" || { echo "which test? make bless T=fuse_ops" >&2; exit 2; }
	@$(BIN)/lit --quiet --update-tests --filter '(^|/)$(T)\.mlir$$' test

clean:
	rm -rf $(VENV) build *.egg-info

# Modules are compiled here, once: where PYTHONDONTWRITEBYTECODE is set, each process would compile them again, which takes
# longer than to read them, and as long as to compile a small model.
FOLDERS := dialects frontend lowering runtime tools transforms weft/meta_schedule weft/script weft/testing weft/topi weft/tuning
FOUNDATIONS := google immutabledict llvmlite ml_dtypes numpy onnx typing_extensions.py xdsl
BYTECODE = $(BIN)/python -m compileall -q -j $(JOBS) -x '/tests?/' weft/*.py $(FOLDERS) \
  $(addprefix $(VENV)/lib/python3*/site-packages/,$(FOUNDATIONS))

# Stamps: an extra is installed again where pyproject.toml has changed.
$(VENV)/with-dev: $(VENV)/created pyproject.toml
	@echo "installing Weft and what its tests need into $(VENV), which takes a minute ..."
	@.ci/timed "install [dev]" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e ".[dev]"
	@.ci/timed "bytecode" $(BYTECODE)
	@touch $(VENV)/with-demo $@

$(VENV)/with-demo: $(VENV)/created pyproject.toml
	@echo "installing Weft and what the demo needs into $(VENV), which takes half a minute ..."
	@.ci/timed "install [demo]" $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[demo]"
	@.ci/timed "bytecode" $(BYTECODE)
	@touch $@

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Weft needs Python 3.11 or later; give it by make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@
