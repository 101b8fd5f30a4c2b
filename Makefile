# SPDX-License-Identifier: Apache-2.0
# All that is needed is Python 3.11 or later: `make run` and `make test` set up .venv themselves.

# The interpreter that makes .venv: the first of these that works and is new enough.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

BIN := .venv/bin
# The extra that .venv gets NVRTC by: cuda12 on a machine whose driver is of CUDA 12.
CUDA ?= cuda
# How long `make gpu` may take, and what else its command gets: GPU_ARGS="--stages race".
GPU_SECONDS ?= 570
GPU_ARGS ?=
# Much of what is installed: tests import few of these files, which are compiled then.
HARDLY_USED := /(tests|transformers|pandas|scipy|sklearn|pip|dask|fontTools|networkx|nevergrad)/
HARDLY_USED := $(HARDLY_USED)|/torch/(_inductor|distributed|testing|onnx|ao)/
EXAMPLE := torch.nn.RMSNorm(2048)(torch.randn(1,32,2048))

# Processes that tests start load what was compiled before.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run gpu test test-all pytest pytest-all lit lint docs clean

help:
	@echo "make run       run an RMSNorm through the compiler and on the simulator"
	@echo "make gpu       on a machine with a GPU: check and measure everything there, in ten minutes;"
	@echo "               GPU_SECONDS=3600 takes an hour, and the same command goes on where time was up"
	@echo "make test      run all checks and tests"
	@echo "make test-all  the same with all cases of each test and all draws, which takes hours"
	@echo "make lint      ruff and pyright only"
	@echo "make docs      write the generated pages and pictures, and the output of commands in pages"
	@echo "make lit       all lit tests as a shell runs them; make test does so for a few"
	@echo "make clean     remove .venv and what the tools left behind"

run: .venv/ready
	@$(BIN)/tilewright run -c "$(EXAMPLE)"

# Exit code 3: nothing is wrong, and something is left for the next time.
gpu: .venv/ready
	@$(BIN)/python benchmarks/gpu_check.py --seconds $(GPU_SECONDS) $(GPU_ARGS) || test $$? -eq 3

# Side by side: pyright uses one core for a minute.
test: .venv/ready
	@$(MAKE) --no-print-directory -j 2 lint pytest

test-all: .venv/ready
	@$(MAKE) --no-print-directory -j 2 lint pytest-all

# Neighbouring tests share what a file prepares: a process gets half of all, and then takes others.
pytest: .venv/ready
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal
	$(BIN)/lit -q -j $(JOBS) test/dialects/scalar

pytest-all: .venv/ready
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal --every-case
	@$(MAKE) --no-print-directory lit

lit: .venv/ready
	$(BIN)/lit -q -j $(JOBS) test

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python test/plugins/changed_types.py

docs: .venv/ready
	$(BIN)/tilewright ops --markdown > docs/ops.md
	$(BIN)/python -m tilewright.tools.commands_markdown docs/commands.md
	$(BIN)/python -m tilewright.tools.api_markdown docs/python-api.md
	$(BIN)/python -m tilewright.tools.pass_pages docs/rewrites
	$(BIN)/python -m tilewright.tools.architecture docs
	$(BIN)/python -m tilewright.tools.levels_picture examples/relu_matmul.mlir docs/levels.svg
	$(BIN)/python -m tilewright.tools.fragments_picture docs/fragments.svg
	$(BIN)/python benchmarks/clock_picture.py docs/clock-errors.svg
	$(BIN)/python test/plugins/documents.py README.md docs/*.md

JOBS ?= $(shell $(BIN)/python -c 'import os; print(os.cpu_count() or 1)')

.venv/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or later found (set PYTHON)"; exit 2; }
	@echo "setting up .venv with $(PYTHON): 1 to 2 minutes besides the download, and 1.8 GB with a CPU build of torch"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--constraint constraints.txt --editable '.[$(CUDA),dev]'
	@$(BIN)/python -m compileall -qq -j 0 -x '$(HARDLY_USED)' .venv/lib || true # pip uses one core; some files are of other Pythons
	@touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis test/Output *.egg-info build dist
