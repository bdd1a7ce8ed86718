# blade: two commands on a fresh machine, `make analyze` and `make test`; each sets itself up.
RESULTS ?= data_samples/demo
OUT ?= blade_out
GALLERY ?= docs/gallery
VENV := .venv
BIN := $(VENV)/bin
# Not the one of this environment, which has no pip and may be first on the PATH.
PYTHON ?= $(shell PATH="$$(printf %s "$$PATH" | tr : '\n' | grep -vxF "$(abspath $(BIN))" | tr '\n' :)" command -v python3 || echo python3)
# One mark for each set of libraries that is installed: an analysis needs few of them.
ANALYZE := $(VENV)/.analyze
EXTRAS := view ray remote site
READY := $(VENV)/.dev
# The lock file says which versions; pyproject.toml says which libraries each set needs.
# To compile all that is installed takes as long as installing it: only what an analysis imports is.
INSTALL_OPTIONS := --quiet --disable-pip-version-check --no-compile --no-build-isolation --constraint requirements.lock

.DEFAULT_GOAL := help
.PHONY: help setup analyze view gallery site test test-all lint golden bench clean $(EXTRAS:%=%-libraries)

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make the virtual environment with the libraries of all commands, tests and checks

# A pip of its own takes a third of the time that the environment takes.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "blade needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@if $(PYTHON) -c 'import pip; assert tuple(map(int, pip.__version__.split(".")[:2])) >= (22, 3)' 2>/dev/null; \
	  then $(PYTHON) -m venv --without-pip $(VENV); else $(PYTHON) -m venv $(VENV); fi
	@touch $@

# $(call install,what to install)
define install
	@if [ -e $(BIN)/pip ]; then pip="$(BIN)/python -m pip"; else pip="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
	  set -ex; $$pip install $(INSTALL_OPTIONS) $(1)
endef

$(ANALYZE): requirements.lock pyproject.toml | $(VENV)/.made
	$(call install,setuptools)
	$(call install,--editable .)
	$(BIN)/python -c 'import pipeline.cli, pipeline.run'
	@touch $@

$(EXTRAS:%=$(VENV)/.%) $(READY): $(VENV)/.%: $(ANALYZE)
	$(call install,--editable '.[$*]')
	@touch $@

$(EXTRAS:%=%-libraries): %-libraries: $(VENV)/.%

analyze: $(ANALYZE) ## analyze RESULTS (a folder or file) into OUT
	$(BIN)/blade analyze "$(RESULTS)" --out "$(OUT)"

view: $(VENV)/.view ## open OUT in the browser
	$(BIN)/blade view "$(OUT)"

gallery: $(VENV)/.view ## write finished reports of the samples, and pages of the explorer, to GALLERY
	$(BIN)/blade analyze data_samples/demo --out build/gallery
	mkdir -p "$(GALLERY)"
	cd build/gallery && tar -cf - $$(find . -name report.html) | tar -xf - -C "$(abspath $(GALLERY))"
	$(BIN)/blade report --html data_samples/benchmarks/office_desk/golden_reports/aster-8b_golden_report.md \
	  --out "$(GALLERY)/curated.html"
	$(BIN)/blade analyze data_samples/benchmarks/office_desk --out build/explorer
	$(BIN)/blade view build/explorer --bundle "$(GALLERY)/explorer"

# With --quiet a dead link would be no error.
site: $(VENV)/.site gallery ## build docs and the gallery into site/, with search; a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

MARKS ?=
test: $(READY) ## run the tests, without the slow ones
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-all: $(READY) ## run every test, the slow ones too
	$(BIN)/python -m pytest -m "$(MARKS)" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

golden: $(READY) ## accept what the golden-file tests got, and write the tables of docs and the JSON schema
	BLADE_ACCEPT=1 $(BIN)/python -m pytest -m "not slow" tests/test_golden.py

bench: $(READY) ## simulate how often verdicts are right; measure speed and memory
	$(BIN)/python -m tests.bench

clean: ## remove the environment, caches and default output
	rm -rf $(VENV) blade_out build dist site docs/gallery *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
