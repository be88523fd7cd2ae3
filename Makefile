# Signpost. `make help` lists what can be done here.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Downloads and builds live outside the checkout, so that the next checkout finds them.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/signpost
PYTHON ?= python3
UV_VERSION := 0.13.7
UV := $(CACHE)/uv-$(UV_VERSION)/bin/uv
export SIGNPOST_CACHE := $(CACHE)
export UV_SYSTEM_CERTS := 1
BIN := .venv/bin

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(UV):
	@echo "== uv $(UV_VERSION) into $(CACHE)"
	@$(PYTHON) -m venv "$(CACHE)/uv-$(UV_VERSION)"
	@"$(CACHE)/uv-$(UV_VERSION)/bin/pip" install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.venv/ready: requirements/dev.lock namesrv/pyproject.toml operator/pyproject.toml | $(UV)
	@echo "== Python environment in .venv"
	@$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	@$(UV) pip sync --quiet --python .venv --require-hashes requirements/dev.lock
	@$(UV) pip install --quiet --python .venv --no-deps -e namesrv -e operator
	@touch $@

.PHONY: setup
setup: .venv/ready ## Make the Python environment in .venv

.PHONY: lint
lint: setup ## ruff, mypy (strict), import-linter
	@echo "== ruff";          $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "== mypy";          $(BIN)/mypy
	@echo "== import-linter"; $(BIN)/lint-imports --no-cache

.PHONY: format
format: setup ## Rewrite the sources as ruff likes them
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

.PHONY: test
test: lint ## Everything that must hold before a change lands
	@echo "== pytest"; $(BIN)/pytest --numprocesses 2 --dist loadgroup

# What is measured runs as it does in an image: on the distribution's own Python, which is built
# with profile-guided optimisation. One that a version manager compiled is often a third slower.
BENCH_PYTHON ?= $(or $(wildcard /usr/bin/python3),$(PYTHON))

.venv-bench/ready: requirements/namesrv.lock namesrv/pyproject.toml | $(UV)
	@echo "== Python environment of the bench in .venv-bench"
	@$(UV) venv --quiet --allow-existing --python $(BENCH_PYTHON) .venv-bench
	@$(UV) pip sync --quiet --python .venv-bench --require-hashes requirements/namesrv.lock
	@$(UV) pip install --quiet --python .venv-bench --no-deps -e namesrv
	@touch $@

.PHONY: bench
bench: .venv-bench/ready ## Speed beside the Java name server; BENCH=--quick for a short run
	@.venv-bench/bin/python -m bench.lookup $(BENCH)
	@.venv-bench/bin/python -m bench.registration $(BENCH)

.PHONY: crds
crds: setup ## Write crds/ (and the chart's copy) anew from the operator's models
	@$(BIN)/python -m tools.settings_catalogue
	@$(BIN)/python -m signpost_operator.crds crds charts/signpost/files/crds

.PHONY: screenshots
screenshots: setup ## Take the console's pictures in docs/images anew
	@mkdir -p docs/images
	@$(BIN)/python -m tests.console.screenshots docs/images

.PHONY: lock
lock: | $(UV) ## Pin the dependencies anew, with hashes
	@for f in namesrv operator dev; do \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	    --custom-compile-command 'make lock' --upgrade -o requirements/$$f.lock requirements/$$f.in; done

.PHONY: clean
clean: ## Remove what make made here (the cache stays)
	@rm -rf .venv .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
