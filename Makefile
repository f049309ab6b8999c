# Two commands to start with: `make demo` and `make test`. They need Python 3.11 and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV := .venv
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(PROGRAMS)
LOWEST := .venv-lowest
RELEASE := .venv-release
CLEAN := .venv-clean
AXE := 4.14.0
AXE_SHA256 := 20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878
CORE_TESTS := $(addprefix tests/,envs agent runs memory transition planning inference structure learners files)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# The matrices here are small: one thread is faster than two that wait for each other.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test lowest setup axe lint bench campaign figures docs gallery dist sbom clean help

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/'

demo: $(VENV)/.core  ## train on a maze and draw what was learned
	$(BIN)/tgm train --maze 27 --steps 2000 --seed 0

test: setup  ## the whole test suite
	$(BIN)/python -m pytest -n 2

lowest: $(LOWEST)/.done  ## the core's tests with the lowest versions that pyproject.toml allows
	$(LOWEST)/$(PROGRAMS)/python -m pytest -n 2 $(CORE_TESTS)

setup: $(VENV)/.all  ## .venv with all extras; quick when nothing changed

lint: setup  ## formatting, types, imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

axe:  ## axe-core, which tests the inspector for accessibility; not a part of the package
	@test -f $(VENV)/axe-core/axe.min.js || { command -v npm > /dev/null && cd $(VENV) \
		&& npm pack --silent axe-core@$(AXE) > /dev/null && tar xzf axe-core-$(AXE).tgz \
		&& echo "$(AXE_SHA256)  package/axe.min.js" | sha256sum --check --quiet \
		&& mkdir -p axe-core && mv package/axe.min.js axe-core/ && rm -r package axe-core-$(AXE).tgz; }

bench: setup  ## ratios against peers, measured in one run
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

campaign: setup  ## long trials of the promises
	@for script in campaigns/*.py; do name=$$(basename $$script .py); \
		echo "== $$name"; $(BIN)/python -m campaigns.$$name || exit 1; done

figures: setup  ## the figures of the paper, with a page (about two minutes)
	$(BIN)/tgm figures --out figures

docs: $(VENV)/.docs  ## the documentation site, in build/site; any warning is an error
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/site
	@echo "build/site/index.html"

gallery: setup  ## every example in full, with its picture (some minutes)
	$(BIN)/python examples/run_all.py --pictures docs/images/gallery

dist: $(RELEASE)/.done  ## wheel and source distribution in dist/, tried in a new environment
	rm -rf dist $(CLEAN)
	$(RELEASE)/$(PROGRAMS)/python -m build --outdir dist
	$(RELEASE)/$(PROGRAMS)/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(CLEAN)
	$(CLEAN)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	$(CLEAN)/$(PROGRAMS)/python .ci/try_packages.py dist

sbom: dist  ## CycloneDX list of what the wheel brings, and its licences, in dist/
	$(CLEAN)/$(PROGRAMS)/python -m pip uninstall --quiet --yes setuptools pip
	$(RELEASE)/$(PROGRAMS)/cyclonedx-py environment --output-reproducible --spec-version 1.6 \
		--pyproject pyproject.toml --output-file dist/sbom.cdx.json $(CLEAN)/$(PROGRAMS)/python
	$(RELEASE)/$(PROGRAMS)/python .ci/licences.py dist/sbom.cdx.json > dist/licences.md
	@cat dist/licences.md

clean:  ## remove what was built
	rm -rf $(VENV) $(LOWEST) $(RELEASE) $(CLEAN) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A stamp is newer than what it was installed from; so a second call costs nothing.
$(VENV)/.core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "tgm needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -e '.[inspect]'
	@touch $@

$(VENV)/.all: $(VENV)/.core
	$(PIP_INSTALL) -e '.[all,dev]'
	@$(MAKE) --no-print-directory axe || echo "without npm, the tests of accessibility are skipped"
	@touch $@

$(VENV)/.docs: $(VENV)/.all
	$(PIP_INSTALL) -e '.[docs]'
	@touch $@

$(RELEASE)/.done: constraints.txt
	test -x $(RELEASE)/$(PROGRAMS)/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		build twine cyclonedx-bom
	@touch $@

# Of each core dependency the version after its ">=".
$(LOWEST)/.done: pyproject.toml
	test -x $(LOWEST)/$(PROGRAMS)/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/$(PROGRAMS)/python -c 'import re, tomllib; \
		wanted = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]; \
		print(*[re.sub(">=([^,]*).*", r"==\1", one) for one in wanted], sep="\n")' > $(LOWEST)/lowest.txt
	$(LOWEST)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check \
		-r $(LOWEST)/lowest.txt -e . pytest pytest-xdist hypothesis mpmath
	@touch $@
