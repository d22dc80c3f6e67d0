# Every target sets up what it needs in a private .venv; nothing else has to be installed
# than Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m

.PHONY: demo test lint bench clean help

help:
	@echo "make demo   cluster the bundled examples, print a table, write isthmus-demo.png"
	@echo "make test   run the test suite with coverage"
	@echo "make lint   ruff, mypy --strict, the order of the rooms"
	@echo "make bench  run the benchmarks (writes bench-results/)"
	@echo "make clean  remove .venv, caches and everything generated"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[bench]'
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/isthmus demo --output isthmus-demo.png

test: $(VENV)/.dev
	$(RUN) pytest --numprocesses=auto --dist=loadfile --cov --cov-report=term --durations=8

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(RUN) benchmarks --output bench-results

clean:
	rm -rf $(VENV) build dist bench-results isthmus-demo.png .coverage htmlcov \
		.hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
