# Enlace. `make` alone says what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# The first Python of 3.11 or later that is found; `make PYTHON=… run` names another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
BIN := .venv/bin
# Files of tests that run side by side; WORKERS=0 runs all in one process, which a debugger needs.
WORKERS ?= 2
STAMP := .venv/enlace-set-up
# What was compiled for one processor may not run on another: its features are kept, and set-up runs where they changed.
FEATURES := grep -m 1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null
PROCESSOR := .venv.processor
$(shell $(FEATURES) | cmp -s - $(PROCESSOR) || $(FEATURES) > $(PROCESSOR))
# Tests that tell about the project itself, in seconds: documents, catalogues, imports, structure.
HOUSE_TESTS := tests/test_docs.py tests/test_locale.py tests/test_imports.py tests/test_structure.py

.PHONY: help run test check soak setup lock pages
help: ## Say what there is
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(STAMP) ## Open Enlace (the first time: set it up)
	@$(BIN)/enlace

test: $(STAMP) ## Run the tests (ARGS="tests/engine -x" for some of them)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: $(STAMP) ## Lint, format, types, import contracts, documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q $(HOUSE_TESTS)

soak: $(STAMP) ## Run the tests that take minutes to hours
	@$(BIN)/python -m pytest -m soak $(ARGS)

setup: $(STAMP) ## Set up without opening anything

lock: $(STAMP) ## Write requirements.lock from what is installed
	@$(BIN)/python scripts/lock.py

pages: $(STAMP) ## Write the documents that are made from the commands, the settings and other models' templates
	@$(BIN)/python -m scripts.commands_page
	@$(BIN)/python -m scripts.settings_page
	@$(BIN)/python -m scripts.templates_page

$(STAMP): $(PROCESSOR) requirements.lock pyproject.toml setup.py scripts/set_up.py scripts/one_token.py $(wildcard trainer/model/native/*.?pp)
	@if [ -z "$(PYTHON)" ]; then \
		echo "Enlace needs Python 3.11 or later, and none was found. Install one, or name it: make PYTHON=/path/to/python3.11 run" >&2; \
		exit 1; \
	fi
	@$(PYTHON) scripts/set_up.py
