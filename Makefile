# On a fresh clone, every target creates .venv first.
PYTHON ?= python3
# Another package index for torch, e.g. one with CUDA or CPU-only builds: make setup TORCH_INDEX=https://…
TORCH_INDEX ?=

BIN := .venv/bin
READY := .venv/.ready
NOTEBOOK_READY := .venv/.notebook-ready
# One core per test: two tests that both use all cores would slow each other down. Each core takes
# half of the files, until it has none left: what the tests of a file share is made once, not twice.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2 --dist worksteal

BENCHMARKS := loop_overhead dot_product attention_cost knowledge_speed knowledge_decoding scale web_load

.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-precision test-slow test-slurm bench equal architecture courses course-knowledge course-attention course-yelp course-boolq course-sst2 handout-knowledge handout-attention handout-yelp handout-sst2 notebook results docs clean

help:  ## list these targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | awk -F '\t' '{printf "  make %-16s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "attnlab needs Python 3.11 or newer; '$(PYTHON)' is older: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

setup: $(READY)  ## install attnlab and its tools into .venv
	@echo "ready: . .venv/bin/activate && attnlab --help"

demo: $(READY)  ## train models on a made-up world and ask where its people were born
	$(BIN)/attnlab knowledge demo

check: $(READY)  ## check format, lint, types and generated documents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python benchmarks/results.py check
	$(BIN)/python courses/build.py check
	$(BIN)/python docs/build.py check
	$(BIN)/python docs/answers.py check
	$(BIN)/python docs/figures.py check
	$(BIN)/python docs/variants.py check

test: $(READY)  ## run the tests (under five minutes on two cores)
	$(PYTEST) -m 'not slow and not slurm'

test-precision: $(READY)  ## run the tests that train or evaluate a model, in float32 and in bfloat16
	ATTNLAB_PRECISION=float32 $(PYTEST) -m 'precision and not slow'
	ATTNLAB_PRECISION=bfloat16 $(PYTEST) -m 'precision and not slow'

test-slow: $(READY)  ## run only the slow tests: a hundred random kills, hostile input in every combination
	$(PYTEST) -m slow

test-slurm: $(READY)  ## run the tests on a real Slurm cluster, started here; installs Debian's packages if run as root
	$(BIN)/pytest tests/slurm -rs

bench: $(READY)  ## run the benchmarks that need neither data nor hours; each prints ratios and writes results/NAME.json
	@for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done

equal: $(READY)  ## compare losses and answers with another revision, bit by bit: make equal BASE=REVISION
	$(BIN)/python benchmarks/equality.py against $(BASE)

architecture: $(READY)  ## generate docs/architecture.md from the files' docstrings
	$(BIN)/python docs/build.py

courses: $(READY)  ## generate the courses' notebooks from their sources
	$(BIN)/python courses/build.py

course-yelp: $(READY)  ## run every command of the yelp course; TINY=1: about a minute, FULL=1: as printed
	PATH="$(CURDIR)/$(BIN):$$PATH" courses/yelp/walk_through.sh runs/course-yelp

course-knowledge: $(READY)  ## run every command of the knowledge course on a small made-up world, and its grader
	PATH="$(CURDIR)/$(BIN):$$PATH" courses/knowledge/walk_through.sh runs/course-knowledge$(if $(FULL),-full)

course-attention: $(READY)  ## run the attention course: its notebooks, every question, the handout and its grader
	PATH="$(CURDIR)/$(BIN):$$PATH" courses/attention/walk_through.sh runs/course-attention

course-boolq: $(READY)  ## run every command of the BoolQ course on few questions; TINY=1: about two minutes, FULL=1: all
	PATH="$(CURDIR)/$(BIN):$$PATH" courses/boolq/walk_through.sh runs/course-boolq

course-sst2: $(READY)  ## run the sst2 course: its notebook on a subset, the handout and its grader; TINY=1: about a minute
	PATH="$(CURDIR)/$(BIN):$$PATH" courses/sst2/walk_through.sh runs/course-sst2

handout-knowledge: $(READY)  ## write what a student of the knowledge course gets: make handout-knowledge FOLDER=handout/knowledge
	$(BIN)/python courses/handout.py knowledge $(or $(FOLDER),handout/knowledge)

handout-attention: $(READY)  ## write what a student of the attention course gets: make handout-attention FOLDER=handout/attention
	$(BIN)/python courses/handout.py attention $(or $(FOLDER),handout/attention)

handout-yelp: $(READY)  ## write what a student of the yelp course gets: make handout-yelp FOLDER=handout/yelp
	$(BIN)/python courses/handout.py yelp $(or $(FOLDER),handout/yelp)

handout-sst2: $(READY)  ## write what a student of the sst2 course gets: make handout-sst2 FOLDER=handout/sst2
	$(BIN)/python courses/handout.py sst2 $(or $(FOLDER),handout/sst2)

# JupyterLab is installed when it is first wanted, so that nothing else waits for it.
$(NOTEBOOK_READY): $(READY)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[notebook]'
	@touch $@

# The notebooks are in the repository; they are not generated here, which would undo a student's work.
notebook: $(NOTEBOOK_READY)  ## open the courses' notebooks in JupyterLab: make notebook ARGS=--no-browser
	$(BIN)/jupyter-lab --notebook-dir courses $(ARGS)

results: $(READY)  ## list the measured results, the command for each, and how long it takes
	@$(BIN)/python benchmarks/results.py list

docs: $(READY)  ## build the manual as a website in site/; fails on a stale number, page, figure, link or anchor
	$(BIN)/python benchmarks/results.py check
	$(BIN)/python docs/build.py check
	$(BIN)/python docs/answers.py check
	$(BIN)/python docs/figures.py check
	$(BIN)/python docs/variants.py check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # not --quiet, with which warnings are not counted
	@echo "open site/index.html; for the search, serve it: $(BIN)/python -m http.server --directory site"

clean:  ## remove .venv, caches and the built site, but keep runs/
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
