# Assent: `make` lists what you can do.
.DEFAULT_GOAL := help
BIN := .venv/bin
CODE := src tests bench scripts examples docs/conf.py
.PHONY: help setup run test integration check format spec bench coverage docs clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /	/' | expand -t 12

setup: ## make .venv with what tests and checks need (the other targets call it, or a smaller part of it)
	@scripts/setup dev

run: ## take the guided tour: no key, no network, real tools and real approvals
	@scripts/setup run
	@$(BIN)/assent tour

test: setup ## run all tests, three parts of them side by side, and show progress
	@scripts/test-tools
	@$(BIN)/python scripts/run_tests.py

integration: setup ## kill Assent 300 times in all its forms, and look what is lost, doubled or left (some minutes)
	@$(BIN)/pytest -q tests/integration

check: setup ## format, lint, types (also of the page), contracts between packages
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/basedpyright
	@scripts/page-types
	@$(BIN)/python scripts/vendor.py --check

format: setup ## format and fix what can be fixed
	@$(BIN)/ruff check --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

spec: setup ## print every row of the specification with the tests that prove it
	@$(BIN)/python scripts/spec.py

bench: setup ## measure, as ratios to a floor in the same run; BENCH="--quick startup" for less
	@$(BIN)/python -m bench $(BENCH)

coverage: setup ## run the tests and show which lines they reach, by package; COVERAGE="tests/files" for less
	@scripts/setup coverage
	@scripts/test-tools
	@$(BIN)/python scripts/measure_coverage.py $(COVERAGE)

docs: ## build the documentation site in build/docs; a broken link fails
	@scripts/setup docs
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -c docs . build/docs
	@echo "build/docs/index.html"

clean: ## remove .venv, caches and what was built
	rm -rf .venv .ruff_cache .hypothesis build dist
