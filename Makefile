# Assent: `make` lists what you can do.
.DEFAULT_GOAL := help
BIN := .venv/bin
.PHONY: help setup run test integration check format spec bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: ## make .venv with everything that is needed (the other targets call it)
	@scripts/setup

run: setup ## take the guided tour: no key, no network, real tools and real approvals
	@$(BIN)/assent tour

test: setup ## run all tests, three parts of them side by side, and say how far they are
	@scripts/browser
	@$(BIN)/python scripts/run_tests.py

integration: setup ## kill Assent 300 times in all its forms, and look what is lost, doubled or left (some minutes)
	@$(BIN)/pytest -q tests/integration

check: setup ## format, lint, types (also of the page), room contracts
	@$(BIN)/ruff format --check src tests bench scripts
	@$(BIN)/ruff check src tests bench scripts
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/basedpyright
	@scripts/page-types
	@$(BIN)/python scripts/vendor.py --check

format: setup ## format and fix what can be fixed
	@$(BIN)/ruff check --fix-only src tests bench scripts
	@$(BIN)/ruff format src tests bench scripts

spec: setup ## print every row of the specification with the tests that prove it
	@$(BIN)/python scripts/spec.py

bench: setup ## measure, as ratios to a floor in the same run; BENCH="--quick startup" for less
	@$(BIN)/python -m bench $(BENCH)

clean: ## remove .venv and caches
	rm -rf .venv .ruff_cache .hypothesis
