# Two commands do everything: `make study` and `make test`. Both create .venv and install what they need.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export OMP_NUM_THREADS ?= 1

.PHONY: study test bench paper docs clean

study: .venv/installed
	$(BIN)/lengthwise study quick

test: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

bench: .venv/installed-bench
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/run.py

paper: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 -m slow

docs: .venv/installed
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_search54.py

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
	@touch $@
