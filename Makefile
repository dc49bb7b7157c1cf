# make run    installs, builds the demo collection, answers a demo question with its citations, serves the page
# make test   installs and runs all tests
# make check  style, types and the import contract;  make bench  measurements (DATA=folder adds those on data sets)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8501
DATA ?=
# On Linux, PyPI's torch brings gigabytes of CUDA; where no NVIDIA driver is found the CPU build is taken from here.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH := torch>=2.6,<2.14
DEBIAN := chromium chromium-driver postgresql

.PHONY: run test check bench clean
.DEFAULT_GOAL := run

run: $(VENV)/.run
	@$(BIN)/propcite demo
	@$(BIN)/propcite ui --port $(PORT)

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory debian
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python tests/benchmarks/speed.py
	@if [ -n "$(DATA)" ]; then $(BIN)/python tests/benchmarks/rank.py $(DATA)/rank_dev.jsonl.gz; fi

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "PropCite needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@if [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null && \
		$(BIN)/python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=4)' $(TORCH_INDEX) 2>/dev/null; \
		then $(BIN)/pip install --quiet --index-url $(TORCH_INDEX) '$(TORCH)'; fi

$(VENV)/.run: pyproject.toml | $(BIN)/python
	@echo "installing PropCite in $(VENV) (a few minutes the first time)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing PropCite and what its tests need in $(VENV)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.run

.PHONY: debian
debian:
	@if command -v chromedriver >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing $(DEBIAN)"; \
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(DEBIAN) >/dev/null \
			|| echo "could not install $(DEBIAN): the tests that need them will be left out"; \
	else echo "for the tests in a browser and on PostgreSQL: sudo apt-get install $(DEBIAN)"; fi
