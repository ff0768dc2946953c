# Each target sets itself up in .venv from the locked versions, and does nothing twice.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEVELOP := .venv/.develop

.PHONY: demo test lint bench docs lock clean

demo: $(READY)  ## the tour: laws of the toy model next to the paper's, with pictures in demo/
	$(BIN)/daybreak demo

test: $(DEVELOP)  ## the whole test suite
	$(BIN)/python -m pytest -n auto

lint: $(DEVELOP)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(DEVELOP)  ## ratios against a peer or a limit, measured in one run
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/plateaus.py
	$(BIN)/python benchmarks/laws.py
	$(BIN)/python benchmarks/lab.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python -m benchmarks.explorer
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python benchmarks/training.py

docs: $(DEVELOP)  ## write the generated pages again
	$(BIN)/python docs/generate.py

lock:  ## resolve the versions that pyproject.toml allows, and write them to both locks
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet hatchling editables -e '.[explorer]'
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip > requirements.lock
	$(BIN)/python -m pip install --quiet -e '.[dev,explorer,ray,text]'
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
	rm -rf .venv build dist demo .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
