# Assent: `make` lists the targets.
.DEFAULT_GOAL := help
BIN := .venv/bin
CODE := src tests bench scripts examples docs/conf.py
.PHONY: help setup run test integration check format spec bench coverage docs clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /	/' | expand -t 12

setup: ## create .venv with everything that tests and checks need (the other targets do this themselves)
	@scripts/setup dev

run: ## take the guided tour: no key, no network, real tools, real approvals; MODEL=local uses a real model
ifeq ($(MODEL),local)
	@scripts/setup run local
	@$(BIN)/python scripts/try_local_model.py
else
	@scripts/setup run
	@$(BIN)/assent tour
endif

test: setup ## run all tests, in three parts in parallel, and show progress
	@scripts/test-tools
	@$(BIN)/python scripts/run_tests.py

integration: ## kill Assent 300 times; run, cut and kill whole loops with a real model and a cluster (CHAOS_MINUTES=3)
	@scripts/setup dev local gateway client
	@scripts/test-tools integration
	@scripts/otlp-server
	@$(BIN)/pytest -q tests/integration

check: setup ## check formatting, lint, types (also of the page) and the contracts between packages
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/basedpyright
	@scripts/page-types
	@$(BIN)/python scripts/vendor.py --check

format: setup ## format the code, and fix what can be fixed automatically
	@$(BIN)/ruff check --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

spec: setup ## print every row of the specification, with the tests that prove it
	@$(BIN)/python scripts/spec.py

bench: setup ## run the benchmarks, as ratios to a baseline in the same run; BENCH="--quick startup" runs fewer
	@scripts/test-tools
	@$(BIN)/python -m bench $(BENCH)

coverage: setup ## run the tests and show which lines they reach, by package; COVERAGE="tests/files" runs fewer
	@scripts/setup coverage
	@scripts/test-tools
	@$(BIN)/python scripts/measure_coverage.py $(COVERAGE)

docs: ## build the documentation site in build/docs; a broken link is an error
	@scripts/setup docs
	@$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet -c docs . build/docs
	@echo "build/docs/index.html"

clean: ## remove .venv, caches and build results
	rm -rf .venv .ruff_cache .hypothesis build dist
