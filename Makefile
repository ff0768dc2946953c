# Each target sets itself up in .venv from the locked versions, and does nothing twice.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEVELOP := .venv/.develop

.PHONY: demo test lint bench notebooks docs site compat dist lock clean

demo: $(READY)  ## the tour: laws of the toy model next to the paper's, with pictures in demo/
	$(BIN)/daybreak demo

test: $(DEVELOP)  ## the whole test suite
	$(BIN)/python -m pytest -n auto

lint: $(DEVELOP)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(DEVELOP)  ## ratios against a peer or a limit, measured in one run; then docs/benchmarks.md
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/plateaus.py
	$(BIN)/python benchmarks/laws.py
	$(BIN)/python benchmarks/lab.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python -m benchmarks.explorer
	$(BIN)/python benchmarks/evaluations.py
	$(BIN)/python benchmarks/forecasts.py
	$(BIN)/python benchmarks/few_runs.py
	$(BIN)/python -m benchmarks.thousand_workers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/step_trace.py
	$(BIN)/python benchmarks/watch.py overhead
	$(BIN)/python benchmarks/watch.py forecasts
	$(BIN)/python docs/generate.py

notebooks: $(DEVELOP)  ## open the notebooks in a browser, on this machine only
	$(BIN)/marimo edit --skip-update-check notebooks

docs: $(DEVELOP)  ## write the generated pages again
	$(BIN)/python docs/generate.py

site: $(DEVELOP)  ## the site of docs/ in site/, with every link checked; open site/index.html
	$(BIN)/python docs/build_site.py

compat: $(DEVELOP)  ## the wheel, and a part of the tests, on each supported Python that is installed here; minutes each
	$(BIN)/python tests/compat.py

dist: $(DEVELOP)  ## wheel and sdist, in dist/
	rm -rf dist
	$(BIN)/python -m hatchling build

lock:  ## resolve the versions that pyproject.toml allows, and write them to both locks
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet hatchling editables -e '.[explorer]'
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip > requirements.lock
	$(BIN)/python -m pip install --quiet -e '.[dev,docs,explorer,notebooks,ray,text]'
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip > requirements-dev.lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Daybreak needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

$(DEVELOP): $(READY) requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@

clean:
	rm -rf .venv .compat build dist demo site .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
