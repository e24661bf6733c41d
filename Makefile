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

.PHONY: study check test test-all test-keys attack kills bench paper docs locked release tutorial clean

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

# Hostile arguments, files and checkpoints; the seed is printed. `make attack SEED=7 COUNT=500` repeats or shortens one.
attack: .venv/installed-dev
	cd tests && ../$(BIN)/python -m attack.campaign --count $(or $(COUNT),10000) $(if $(SEED),--seed $(SEED))

# 100 random kills of a study and of the measurement of a language model, and machines with faults.
kills: .venv/installed-dev
	$(BIN)/python -m pytest tests/studies/test_survival.py tests/studies/test_under_fire.py tests/probes/test_flaky_server.py

bench: .venv/installed-bench
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/run.py

paper: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 -m slow

# The pages that are written by programs, then the site in docs/_build/html; a warning is an error.
docs: .venv/installed-docs
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_examples.py
	$(BIN)/python docs/make_schemas.py
	$(BIN)/python docs/make_search54.py
	$(BIN)/python docs/make_claims.py
	$(BIN)/lengthwise report atlas --out docs/findings/atlas.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# dist/: wheel and sdist, built twice and equal; the bill of materials; checksums. The wheel is tried in an environment of
# its own. `make release AUDIT=--required` also fails if packages could not be audited.
release: .venv/installed-release
	$(BIN)/python release/archives.py
	$(BIN)/python release/alone.py $(PAGES)
	$(BIN)/python release/audit.py $(AUDIT)

# The same, and the tutorial and the README carried out as written, in at most 20 minutes.
tutorial: PAGES := --pages
tutorial: release

# Versions or requirements changed: name the wheel of torch without CUDA, `make locked WHEELS=torch-….whl`.
locked: .venv/installed-release
	$(BIN)/python release/lock.py $(WHEELS)

clean:
	rm -rf .venv docs/_build dist

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) -e '.[dev]'
	@touch $@

.venv/installed-docs: .venv/installed
	$(INSTALL) -e '.[docs]'
	@touch $@

.venv/installed-release: .venv/installed
	$(INSTALL) -e '.[release]'
	@touch $@

.venv/installed-bench: .venv/installed
	$(INSTALL) -e '.[bench]'
	$(INSTALL) --no-deps fla-core # its references in plain torch; what it depends on is for GPUs
	@touch $@
