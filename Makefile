# One environment in .venv, made once from requirements.txt; every target uses it.
# `make help` lists the targets.

VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := $(VENV)/.lock-installed
READY  := $(VENV)/.package-installed
LOWEST := _build/lowest
MUTANT := _build/mutants
PORT   ?= 8000
NB     ?=
CORES  ?=
SINCE  ?= $(or $(shell git rev-list -1 --before="1 day ago" HEAD),HEAD)
PYTHON ?=

# On machines that intercept TLS the system's certificates are the ones to trust.
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The lines of the lock that pin uv, with its hashes: one place for its version.
UV_PIN = sed -n '/^uv==/,/[^\]$$/p' requirements.txt

.DEFAULT_GOAL := help
.PHONY: help setup book live html pdf quick test nightly elsewhere lowest mutants format lab notebooks bench lock vendor clean distclean
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r name text; do printf '%-18s %s\n' "$$name" "$$text"; done

setup: $(READY) ## create .venv from the lock and install svmbook in it (PYTHON=... to choose)

book: html ## build the book and serve it on this machine (PORT=8000)
	@$(BIN)/python tools/serve.py _build/html --port $(PORT)

live: html ## serve the book with kernels for its cells (HOST=, LIVE_PORT=8888, KERNELS=8, ARGS=--help)
	@$(BIN)/python tools/live/server.py --host $(or $(HOST),127.0.0.1) --port $(or $(LIVE_PORT),8888) \
	    --kernels $(or $(KERNELS),8) $(ARGS)

html: $(READY) ## build the book into _build/html, warnings are errors
	@$(BIN)/python tools/check.py html

pdf: html ## print the book into _build/svmbook.pdf (needs Chromium)
	@$(BIN)/python tools/pdf.py

quick: $(READY) ## run lint and the tests of the numerical core: a minute
	@$(BIN)/python tools/check.py quick

test: $(READY) ## run every check: lint, book, pytest, notebooks, wheel: ten minutes on two cores
	@$(BIN)/python tools/check.py

# A failure in one part does not keep the others from being run.
nightly: $(READY) ## run what is slow: tests marked so, elsewhere, lowest, mutants of changed modules
	@code=0; \
	$(BIN)/python tools/check.py nightly || code=1; \
	$(MAKE) elsewhere || code=1; \
	$(MAKE) lowest || code=1; \
	$(MAKE) mutants ARGS="--changed $(SINCE)" || code=1; \
	exit $$code

elsewhere: $(READY) ## run notebooks and numerical tests as other x86 processors would (CORES="Nehalem Haswell")
	@$(BIN)/python tools/check.py elsewhere $(CORES)

# Python 3.11 has the oldest wheels. Old versions of a dependency warn about new ones of another, and
# do other work than the budget of the tests records.
lowest: $(READY) ## run pytest with the lowest versions that pyproject.toml allows
	@$(BIN)/uv venv --quiet --clear --python 3.11 $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
	    --editable ".[cvxopt,tables,cluster,course]"
	@$(BIN)/uv pip install --quiet --python $(LOWEST) --constraint requirements.txt \
	    pytest pytest-xdist hypothesis pyyaml
	@SVMBOOK_BUDGET=off PYTEST_ADDOPTS="-W ignore::DeprecationWarning" $(LOWEST)/bin/python tools/check.py pytest

mutants: $(MUTANT)/.ready ## change the package in small places and list what no test notices (ARGS=...)
	@$(MUTANT)/bin/python tools/mutants $(ARGS)

# An environment of its own: nothing else needs cosmic-ray. It is compiled, as sandboxes cannot.
$(MUTANT)/.ready: pyproject.toml requirements.txt | $(READY)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(MUTANT)
	@$(BIN)/uv pip install --quiet --python $(MUTANT) --constraint requirements.txt --compile-bytecode \
	    --editable ".[cvxopt,tables,cluster,course]" pytest hypothesis pyyaml markdown-it-py coverage cosmic-ray
	@touch $@

format: $(READY) ## let ruff format the code and the notebooks and mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lab: $(READY) ## open the notebooks in JupyterLab (ARGS=... for its options)
	@$(BIN)/jupyter lab --notebook-dir=. --LabApp.default_url=/lab/tree/notebooks $(ARGS)

notebooks: $(READY) ## run the notebooks again in place (NB=notebooks/one.ipynb for one)
	@$(BIN)/python tools/notebooks.py $(NB)

bench: $(READY) ## run every benchmarks/bench_*.py in turn
	@set -e; for script in benchmarks/bench_*.py; do \
	  if [ -e "$$script" ]; then echo "== $$script"; $(BIN)/python "$$script"; fi; done

lock: $(READY) ## compile requirements.in into requirements.txt (UPGRADE=--upgrade for newer versions)
	$(BIN)/uv pip compile requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet $(UPGRADE) --output-file requirements.txt

vendor: ## fetch MathJax into book/_vendor again (needs npm)
	@sh tools/vendor.sh

clean: ## remove what the builds made
	rm -rf _build dist .pytest_cache .ruff_cache .hypothesis

distclean: clean ## remove the environment as well
	rm -rf $(VENV)

# --- the environment -------------------------------------------------------------------

# The lock serves these three versions; a newer one may lack wheels or resolve to nothing.
PYTHONS = $(or $(PYTHON),$(BIN)/python python3.11 python3.12 python3.13 python3 python)
FITS    = import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

# The environment is made from nothing whenever the lock is newer, by the Python it had before. So
# one whose making was broken off, wherever, is not taken for a whole one: its stamp is missing.
# uv installs the lock in seconds; where it cannot be had or fails, pip does the same slowly. Both
# refuse a file whose hash is not in the lock. Both compile: a process that finds no bytecode, as
# where PYTHONDONTWRITEBYTECODE is set, takes four seconds longer to import scikit-learn. One package
# goes again: jsonschema takes it for a format that nothing here checks, and to import it, as all that
# reads notebooks would, compiles a grammar for two seconds.
$(LOCK): requirements.txt
	@set -e; for python in $(PYTHONS); do \
	  if "$$python" -c '$(FITS)' 2>/dev/null; then \
	    echo "creating $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV) || { rm -rf $(VENV); \
	      echo "$$python cannot make an environment (on Debian: install python3-venv)" >&2; exit 1; }; \
	    $(UV_PIN) | $(BIN)/python -m pip install --quiet --require-hashes -r /dev/stdin \
	        && $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.txt \
	      || $(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt; \
	    $(BIN)/python -m pip uninstall --quiet --yes rfc3987-syntax; \
	    touch $@; exit 0; \
	  fi; done; \
	echo "none of these is Python 3.11, 3.12 or 3.13: $(PYTHONS)" >&2; \
	echo "name one with make PYTHON=/path/to/python" >&2; exit 1

$(READY): pyproject.toml $(LOCK)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
