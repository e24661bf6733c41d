# Every command creates .venv and installs what it needs. `make study` runs a small study. `make test` is for every change:
# static checks, unit, contract and property tests. `make test-all` adds processes, kills, Ray, Slurm, the browser and the
# documentation examples that compute.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
BROWSER := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
export OMP_NUM_THREADS ?= 1
# Compiled modules are kept, out of sight: many tests start processes, and each of them would compile the package again.
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/.venv/pycache
unexport PYTHONDONTWRITEBYTECODE

.PHONY: study check test test-all test-keys bench paper docs clean

study: .venv/installed
	$(BIN)/lengthwise study quick

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: check
	$(PYTEST) -m "not slow and not system"

# Every sentence is replaced by its key, and tests of wording are left out: no behaviour may rest on English.
test-keys: .venv/installed-dev
	$(PYTEST) -m "not slow and not system" --keys

# Where there is a browser, its tests may not be skipped.
test-all: export LENGTHWISE_REQUIRE_BROWSER := $(if $(BROWSER),1,$(LENGTHWISE_REQUIRE_BROWSER))
test-all: check
	$(PYTEST) -m "not slow"

bench: .venv/installed-bench
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/run.py

paper: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 -m slow

docs: .venv/installed
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_search54.py
	$(BIN)/python docs/make_claims.py
	$(BIN)/lengthwise report atlas --out docs/atlas.html

clean:
	rm -rf .venv

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) -e '.[dev]'
	@touch $@

.venv/installed-bench: .venv/installed
	$(INSTALL) -e '.[bench]'
	$(INSTALL) --no-deps fla-core # its references in plain torch; what it depends on is for GPUs
	@touch $@
