# Every target sets up what it needs in a private environment; nothing else has to be installed
# than Python 3.11 or newer and make.
PYTHON ?= python3
# The lowest versions are installed on the lowest Python.
OLDEST_PYTHON ?= $(shell python3.11 --version >/dev/null 2>&1 && echo python3.11 || echo $(PYTHON))
VENV := .venv
OLDEST := .venv-oldest
WHEEL := .venv-wheel
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
# The fault campaign: how long, and from which seed; without one it takes a new one and prints it.
SECONDS := 600
SEED :=

.PHONY: demo docs test test-slow coverage test-bounds oldest test-oldest test-wheel fuzz fuzz-dask lint bench dist clean help

help:
	@echo "make demo         cluster the bundled examples, write isthmus-demo.png and isthmus-demo.html"
	@echo "make docs         build the documentation's site in build/docs, and check its links"
	@echo "make test         run the test suite"
	@echo "make test-slow    run the tests that take minutes each"
	@echo "make coverage     run it and report the lines that no test reaches"
	@echo "make test-bounds  run its core with kernels that check every index"
	@echo "make test-oldest  run its core with the lowest versions that pyproject.toml claims"
	@echo "make test-wheel   build sdist and wheel, install the wheel alone, try it"
	@echo "make fuzz         the fault campaign, for SECONDS=600, from SEED=..."
	@echo "make fuzz-dask    isthmus.dask against one machine, and with workers killed"
	@echo "make lint         ruff, mypy --strict, the order of the packages"
	@echo "make bench        run the benchmarks (writes bench-results/)"
	@echo "make dist         build sdist and wheel in dist/, and check their metadata"
	@echo "make clean        remove environments, caches and everything generated"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[plot,explore]'
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[docs]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(RUN) pip install --quiet --editable '.[bench]'
	@touch $@

$(OLDEST)/.test: pyproject.toml tools/lowest_versions.py
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python tools/lowest_versions.py > $(OLDEST)/versions.txt
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python -m pip install --quiet --editable '.[test]' \
		--constraint $(OLDEST)/versions.txt --build-constraint $(OLDEST)/versions.txt
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/isthmus demo --output isthmus-demo.png --page isthmus-demo.html

# Offline, and every warning is an error. Pages of names that are gone would stay: begin anew.
docs: $(VENV)/.docs
	rm -rf docs/api docs/gallery docs/_generated docs/sg_execution_times.rst build/docs
	$(RUN) sphinx --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python tools/check_site.py build/docs
	@echo "the site: build/docs/index.html"

test: $(VENV)/.dev
	$(RUN) pytest --numprocesses=auto --dist=loadfile --durations=8

# Tests that wait for minutes, until other packages are compiled.
test-slow: $(VENV)/.dev
	$(RUN) pytest -m slow --timeout=1800

# Apart from "test": what it records makes tests, and above all Numba's compiler, slower by half.
coverage: $(VENV)/.dev
	$(RUN) pytest --numprocesses=auto --dist=loadfile --cov --cov-report=term

# The packages that have kernels. Their code with checks is slow, and kept apart.
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/numba-bounds $(RUN) pytest \
		--numprocesses=auto --dist=loadfile --timeout=900 --durations=8 $(addprefix tests/,\
		numba metrics neighbors spanning_tree ultrametric cut kmeans prediction model_selection)

# The environment of test-oldest.
oldest: $(OLDEST)/.test

# The suite without what depends on no version (the paper, its theory, generated inputs, the
# campaign, the documentation, signals, limits of memory) and without the extras for pages and
# clusters. Its compiled code is kept apart from that of the newest Numba. Warnings that old packages
# cause among themselves are ignored here, each by name.
test-oldest: $(OLDEST)/.test
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/python -m pytest \
		--numprocesses=auto --dist=loadfile --durations=8 \
		$(addprefix --ignore=tests/,baselines campaign explorer on_dask paper properties theory \
			test_docs.py test_memory_limit.py cli/test_processes.py estimators/test_interrupted.py) \
		-W ignore::pyparsing.warnings.PyparsingDeprecationWarning

dist: $(VENV)/.dev
	rm -rf dist
	$(RUN) build --outdir dist
	$(RUN) twine check --strict dist/*
	$(BIN)/cffconvert --validate

test-wheel: dist
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet dist/*.whl
	cd $(WHEEL) && bin/python -I ../tools/smoke_test.py

fuzz: $(VENV)/.dev
	PYTHONPATH=tests $(RUN) campaign --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

fuzz-dask: $(VENV)/.dev
	PYTHONPATH=tests $(RUN) dask_campaign

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(RUN) benchmarks --output bench-results

clean:
	rm -rf $(VENV) $(OLDEST) $(WHEEL) build dist docs/api docs/gallery docs/_generated bench-results isthmus-demo.png isthmus-demo.html .coverage htmlcov \
		.hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
