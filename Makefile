# Every target uses the environment in .venv, which is created once from requirements.txt.
# `make help` lists the targets.

VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := $(VENV)/.lock-installed
READY  := $(VENV)/.package-installed
LOWEST := _build/lowest
MUTANT := _build/mutants
BENCH  := _build/bench
PORT   ?= 8000
NB     ?=
PROCESSORS ?=
SINCE  ?= $(or $(shell git rev-list -1 --before="1 day ago" HEAD),HEAD)
PYTHON ?=

# Where a proxy intercepts TLS, only the system's certificates are valid.
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The lines of the lock that pin uv, with hashes, so that its version is stated only once.
UV_PIN = sed -n '/^uv==/,/[^\]$$/p' requirements.txt

.DEFAULT_GOAL := help
.PHONY: help setup book live html pdf epub slides quick test nightly portability lowest mutants format lab notebooks bench lock vendor clean distclean
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r name text; do printf '%-18s %s\n' "$$name" "$$text"; done

setup: $(READY) ## create .venv from the lock and install svmbook in it (PYTHON=... to choose)

book: html ## build the book and serve it on this computer (PORT=8000)
	@$(BIN)/python tools/serve.py _build/html --port $(PORT)

live: html ## serve the book with kernels for its cells (HOST=, LIVE_PORT=8888, KERNELS=8, ARGS=--help)
	@$(BIN)/python tools/live/server.py --host $(or $(HOST),127.0.0.1) --port $(or $(LIVE_PORT),8888) \
	    --kernels $(or $(KERNELS),8) $(ARGS)

html: $(READY) ## build the book into _build/html; warnings are errors
	@$(BIN)/python tools/check.py html

pdf: html ## print the book into _build/svmbook.pdf (needs Chromium)
	@$(BIN)/python tools/pdf.py

epub: html ## write the book into _build/svmbook.epub for e-readers (needs Chromium)
	@$(BIN)/python tools/epub.py

slides: $(READY) ## write one slide deck per chapter into _build/slides
	@$(BIN)/python tools/slides.py

quick: $(READY) ## run lint and the tests of the numerical core: a minute
	@$(BIN)/python tools/check.py quick

test: $(READY) ## run every check: lint, book, pytest, notebooks, wheel: ten minutes on two cores
	@$(BIN)/python tools/check.py

# A failure in one part does not stop the others.
nightly: $(READY) ## run the slow checks: nightly tests, portability, lowest, mutants of changed modules
	@code=0; \
	$(BIN)/python tools/check.py nightly || code=1; \
	$(MAKE) portability || code=1; \
	$(MAKE) lowest || code=1; \
	$(MAKE) mutants ARGS="--changed $(SINCE)" || code=1; \
	exit $$code

portability: $(READY) ## run notebooks and numerical tests as other x86 processors would (PROCESSORS="Nehalem Haswell")
	@$(BIN)/python tools/check.py portability $(PROCESSORS)

# Python 3.11 has wheels of the oldest versions. Old versions warn about newer dependencies, and the
# work of the tests differs from the recorded budget.
lowest: $(READY) ## run pytest with the lowest versions that pyproject.toml allows
	@$(BIN)/uv venv --quiet --clear --python 3.11 $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
	    --editable ".[cvxopt,tables,cluster,course]"
	@$(BIN)/uv pip install --quiet --python $(LOWEST) --constraint requirements.txt \
	    pytest pytest-xdist hypothesis pyyaml
	@SVMBOOK_BUDGET=off PYTEST_ADDOPTS="-W ignore::DeprecationWarning" $(LOWEST)/bin/python tools/check.py pytest

mutants: $(MUTANT)/.ready ## run mutation tests and list the mutants that no test detects (ARGS=...)
	@$(MUTANT)/bin/python tools/mutants $(ARGS)

# A separate environment, since nothing else needs cosmic-ray. Its bytecode is compiled on
# installation, because sandboxed processes cannot write it.
$(MUTANT)/.ready: pyproject.toml requirements.txt | $(READY)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(MUTANT)
	@$(BIN)/uv pip install --quiet --python $(MUTANT) --constraint requirements.txt --compile-bytecode \
	    --editable ".[cvxopt,tables,cluster,course]" pytest hypothesis pyyaml markdown-it-py coverage cosmic-ray
	@touch $@

format: $(READY) ## format the code and the notebooks with ruff and fix what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lab: $(READY) ## open the notebooks in JupyterLab (ARGS=... for its options)
	@$(BIN)/jupyter lab --notebook-dir=. --LabApp.default_url=/lab/tree/notebooks $(ARGS)

notebooks: $(READY) ## run the notebooks again in place (NB=notebooks/one.ipynb for one)
	@$(BIN)/python tools/notebooks.py $(NB)

bench: $(BENCH)/.ready ## run every benchmarks/bench_*.py in turn, beside the peers that can be installed
	@set -e; for script in benchmarks/bench_*.py; do \
	  echo "== $$script"; $(BENCH)/bin/python "$$script"; done

# A separate environment: the peers are in no lock.
$(BENCH)/.ready: pyproject.toml requirements.txt benchmarks/requirements.txt | $(READY)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(BENCH)
	@$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python --constraint requirements.txt \
	    --editable ".[cvxopt,tables,cluster,course]"
	@$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python --constraint requirements.txt \
	    -r benchmarks/requirements.txt || echo "the peers cannot be installed; measuring without them"
	@touch $@

lock: $(READY) ## compile requirements.in into requirements.txt (UPGRADE=--upgrade for newer versions)
	$(BIN)/uv pip compile requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet $(UPGRADE) --output-file requirements.txt

vendor: ## fetch MathJax, reveal.js and the other scripts again (needs npm)
	@sh tools/vendor.sh

clean: ## remove all build products
	rm -rf _build dist .pytest_cache .ruff_cache .hypothesis

distclean: clean ## remove the environment as well
	rm -rf $(VENV)

# --- the environment -------------------------------------------------------------------

# The lock supports these three versions; a newer version may lack wheels or have no solution.
PYTHONS = $(or $(PYTHON),$(BIN)/python python3.11 python3.12 python3.13 python3 python)
SUPPORTED = import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

# Whenever the lock is newer, the environment is recreated from scratch with the same Python. Its
# stamp is written last, so an incomplete environment is never taken for a complete one.
# uv installs the lock in seconds; if uv is unavailable or fails, pip does the same slowly. Both
# reject a file whose hash is not in the lock. Both compile bytecode: without it, and with
# PYTHONDONTWRITEBYTECODE set, importing scikit-learn takes four seconds longer.
# rfc3987-syntax is removed again: jsonschema would import it, for a format that is never checked
# here, whenever a notebook is read, and the import compiles a grammar for two seconds.
$(LOCK): requirements.txt
	@set -e; for python in $(PYTHONS); do \
	  if "$$python" -c '$(SUPPORTED)' 2>/dev/null; then \
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
