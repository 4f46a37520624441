# All tasks of this repository; `make help` lists them.

PYTHON3 ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PYTHON := $(VENV)/bin/python
OUT := out
PINS := configs/constraints.txt
# rustup's cargo may stand on PATH without a toolchain.
HAS_CARGO := cargo --version > /dev/null 2>&1
BUILD_NATIVE = $(PYTHON) -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./native
# Tests start many processes, which would each compile all modules again without bytecode files.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install native wheels run stream-demo test test-fast fuzz golden lint format bench generated docs picture clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*  ## /\1\t/' | expand -t 14

# The package and its dependencies; the development tools are installed only for targets that need them.
$(VENV)/installed: pyproject.toml setup.py $(PINS)
	@echo 'Installing goodgain and its dependencies into $(VENV); this takes a minute or two.'
	@$(PYTHON3) -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -c $(PINS) -e .
	@touch $@

$(VENV)/developed: $(VENV)/installed $(VENV)/native
	@echo 'Installing the development tools into $(VENV).'
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -c $(PINS) -e '.[dev]'
	@touch $@

# Optional: makes reading several times faster. Only where CI is set must it be built if there is cargo.
$(VENV)/native: native/Cargo.toml native/Cargo.lock native/pyproject.toml $(wildcard native/src/*.rs) | $(VENV)/installed
	@if ! $(HAS_CARGO); then echo 'No cargo here: the native part is not built, and goodgain reads in Python.'; \
	elif echo 'Building the native part with cargo; this takes a minute or two.'; $(BUILD_NATIVE); then echo 'The native part is built.'; \
	elif [ -n "$$CI" ]; then echo 'The native part could not be built, which is an error because CI is set.'; exit 1; \
	else echo 'The native part could not be built; goodgain reads in Python.'; fi
	@touch $@

install: $(VENV)/installed $(VENV)/native  ## install goodgain into a virtual environment, .venv
	@echo "Installed: $$($(VENV)/bin/goodgain --version). Next: make run"

native: $(VENV)/installed  ## build the native part into .venv; needs cargo
	@echo 'Building the native part with cargo; this takes a minute or two.'
	$(BUILD_NATIVE)
	@touch $(VENV)/native
	@$(VENV)/bin/goodgain --version

wheels: $(VENV)/installed  ## build wheels of goodgain and its native part for this platform into dist
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist . ./native

run: $(VENV)/installed  ## run the main job on the shipped data; prints where the report is
	@echo 'Scoring the shipped traces; this takes some seconds.'
	$(VENV)/bin/goodgain run --config configs/run.yaml --input configs/data/sample.avro --output $(OUT)/sample --overwrite

stream-demo: $(VENV)/installed  ## score synthetic conversations as they arrive; needs Prism (make prism)
	rm -rf $(OUT)/stream-demo
	$(PYTHON) -m goodgain.pipeline.cli.demo $(OUT)/stream-demo

test: $(VENV)/developed  ## run all tests except those of `make test-engines`
	$(PYTHON) -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not engines"

test-fast: $(VENV)/developed  ## run the tests that need neither much time, nor engines, nor a browser
	$(PYTHON) -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not slow and not engines and not browser"

fuzz: $(VENV)/developed  ## flip every bit of the headers of small files, and read files with nulls; half an hour of CPU
	$(PYTHON) -m tests.core.files.header_fuzz
	$(PYTHON) -m tests.native.null_tables

golden: $(VENV)/developed  ## record the golden outputs anew; prints what changed
	$(PYTHON) -m tests.golden

lint: $(VENV)/developed  ## check formatting, ruff and mypy strict; rustfmt and clippy if cargo is installed
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	@if $(HAS_CARGO); then set -x; \
	  cargo fmt --manifest-path native/Cargo.toml --check && \
	  cargo clippy --manifest-path native/Cargo.toml --locked --all-targets -- -D warnings; fi

format: $(VENV)/developed  ## format the code
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	@if $(HAS_CARGO); then cargo fmt --manifest-path native/Cargo.toml; fi

bench: $(VENV)/developed  ## measure speed and memory; the table goes to out/bench
	$(PYTHON) -m tests.bench

generated: $(VENV)/developed  ## regenerate the files that come from the code
	$(PYTHON) -m goodgain.pipeline.generated.schemas
	$(PYTHON) -m goodgain.pipeline.generated.templates
	$(PYTHON) -m tests.conformity.table
	$(PYTHON) -m goodgain.pipeline.generated.docs

docs: $(VENV)/developed  ## build the pages as a site in out/docs
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet
	@echo 'The site is in out/docs. To read it at http://localhost:8000: $(PYTHON) -m http.server --directory out/docs'

picture: $(VENV)/developed  ## take the picture of the README anew; needs Chromium
	$(PYTHON) -m tests.pipeline.views.pages.picture

clean:  ## remove everything that was installed or written
	rm -rf $(VENV) $(OUT) .cache build dist native/target *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

include tests/engines/engines.mk
