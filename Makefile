# blade: two commands on a fresh machine, `make analyze` and `make test`; each sets itself up.
RESULTS ?= data_samples/demo
OUT ?= blade_out
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# To compile all that is installed takes as long as installing it: only what an analysis imports is.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.PHONY: help setup analyze test test-all lint golden bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make the virtual environment and install what the lock file names

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "blade needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --requirement requirements.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -c 'import pipeline.cli, pipeline.run'
	@touch $@

analyze: $(READY) ## analyze RESULTS (a folder or file) into OUT
	$(BIN)/blade analyze "$(RESULTS)" --out "$(OUT)"

test: $(READY) ## run the tests, without the slow ones
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-all: $(READY) ## run every test, the slow ones too
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

golden: $(READY) ## accept what the golden-file tests got, and write the tables of docs and the JSON schema
	BLADE_ACCEPT=1 $(BIN)/python -m pytest -m "not slow" tests/test_golden.py

bench: $(READY) ## simulate how often what is said is right; measure speed and memory
	$(BIN)/python -m tests.bench

clean: ## remove the environment, caches and default output
	rm -rf $(VENV) blade_out build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
