# Needs Python 3.11 or later with pip, make and a C++20 compiler; everything else goes into .venv.
#
#   make demo     build, install, compare the algorithms on the digits of scikit-learn, report
#   make test     build, install, run all tests
#   make test-minimum  the tests with the lowest versions that pyproject.toml allows
#   make lint     ruff, mypy, import-linter, clang-format, clang-tidy, our own rule about sums
#   make format   let ruff and clang-format rewrite the sources
#   make docs     the site, into build/site; offline, and a warning is an error
#   make stub     write src/edgewise/_core.pyi again, after a change of cpp/bindings.cpp
#   make bench    edgewise beside its peers; takes hours (see benchmarks/README.md)
#   make guard    instructions of small fits against the committed baseline; takes a minute
#   make fuzz     broken model files through the loader, a million of them, then everything else
#                 that is read; takes two hours
#   make determinism  random fits in other orders, threads and layouts; takes minutes
#   make exports  1200 random models with categories through every export; takes minutes
#   make sanitize a part of the tests under the sanitizers of g++; takes half an hour
#   make sanitize-hostile the part of it for hostile input; takes some minutes
#   make wheels   the wheels and the sdist of a release, into dist/
#   make wheels-all  those for other systems too, cross-compiled; takes half an hour
#   make emulate  test wheels of dist/ on an emulated ARM, and without AVX; takes minutes
#   make release-check  make wheels, then test them in empty environments; takes minutes
#   make lint-workflows  zizmor on .github/workflows
#   make clean    remove .venv and everything built
#
# Options: make test PYTEST_ARGS="-k mart -x"   make bench BENCH_ARGS="speed --quick"
#          make test PYTEST_WORKERS=0 runs the tests one by one, for a debugger
#          make fuzz FUZZ_ARGS="-runs=100000 -seed=2"
#          make determinism DETERMINISM_ARGS="--count 10000 --seed 2 --workers 8"

PYTHON ?= python3
VENV := .venv
MINIMUM := build/minimum
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST_ARGS ?=
PYTEST_WORKERS ?= auto
BENCH_ARGS ?=
GUARD_ARGS ?=
FUZZ_ARGS ?= -runs=1000000 -seed=1
DETERMINISM_ARGS ?= --count 3000 --seed 1
EXPORTS ?= 1200
WHEELS_ARGS ?=
RELEASE_ARGS ?=
FUZZ_RUNS ?= 20000

SOURCES := pyproject.toml CMakeLists.txt \
  $(shell find cpp src -name '*.cpp' -o -name '*.hpp' -o -name '*.py' -o -name '*.pyi' -o -name py.typed -o -path '*/static/*')
CPP := $(shell find cpp tests/core -name '*.cpp' -o -name '*.hpp')

# Installs the package, with an extra. No build isolation: the build folder is kept, so that after a
# change only what changed is compiled.
INSTALL = $(PIP) install --quiet --no-build-isolation --config-settings=build-dir=$(VENV)/build

.PHONY: docs demo test test-minimum lint format stub bench guard guard-renew fuzz determinism \
  exports sanitize sanitize-hostile wheels wheels-all emulate release-check lint-workflows clean
.DELETE_ON_ERROR:

# On a busy machine OpenMP threads that wait for each other, such as scikit-learn's, should sleep.
demo: $(VENV)/installed-cli,report
	@OMP_WAIT_POLICY=passive $(BIN)/python examples/demo.py

test: $(VENV)/installed-test
	$(BIN)/python -m pytest --numprocesses=$(PYTEST_WORKERS) --dist=loadfile $(PYTEST_ARGS)

# pip takes the constraints from PIP_CONSTRAINT; the environment is a second one, beside .venv.
test-minimum:
	@mkdir -p build
	$(PYTHON) release/minimum.py >build/minimum.txt
	PIP_CONSTRAINT=$(CURDIR)/build/minimum.txt $(MAKE) test VENV=$(MINIMUM)

lint: $(VENV)/tools-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python tests/lint/sums_over_rows.py
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	ls cpp/core/*.cpp | xargs -P 2 -I {} $(BIN)/clang-tidy --quiet {} -- -std=c++20

format: $(VENV)/tools-dev
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "build/site/index.html"

stub: $(VENV)/installed-test
	$(BIN)/python -m nanobind.stubgen -q -m edgewise._core -p cpp/stub_patterns.txt \
	  -o src/edgewise/_core.pyi

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

guard: $(VENV)/installed-test
	$(BIN)/python -m benchmarks.guard $(GUARD_ARGS)

guard-renew: $(VENV)/installed-test
	$(BIN)/python -m benchmarks.guard --renew "$(REASON)"

fuzz: $(VENV)/installed-fuzz $(VENV)/installed-test
	cd tests/fuzz && PYTHONPATH=.. ../../$(BIN)/python fuzz_load.py -verbosity=0 -print_final_stats=1 $(FUZZ_ARGS)
	cd tests && for target in $$(../$(BIN)/python -m fuzz.targets); do \
	  ../$(BIN)/python -W ignore -m fuzz.targets $$target 1 $(FUZZ_RUNS) || exit 1; done

# Threads of BLAS, which wait for each other, cost more than the fits; the suite has them.
determinism: $(VENV)/installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/determinism.py $(DETERMINISM_ARGS)

exports: $(VENV)/installed-test
	EDGEWISE_EXPORTS=$(EXPORTS) $(BIN)/python -m pytest --numprocesses=$(PYTEST_WORKERS) \
	  tests/equivalence/test_random_exports.py $(PYTEST_ARGS)

# Without the package: it is laid out again, with the module that contains the sanitizer.
sanitize: $(VENV)/installed-test
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/sanitize/run.py address $(VENV)/sanitize-address $(PYTEST_ARGS)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/sanitize/run.py thread $(VENV)/sanitize-thread $(PYTEST_ARGS)

# The part of it for parameters, files and matrices made with bad intent: a few minutes.
sanitize-hostile: $(VENV)/installed-test
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/sanitize/run.py hostile $(VENV)/sanitize-address $(PYTEST_ARGS)

wheels:
	$(PYTHON) release/wheels.py $(WHEELS_ARGS)

wheels-all:
	$(PYTHON) release/wheels.py --platform all $(WHEELS_ARGS)

emulate:
	$(PYTHON) release/emulate.py

release-check: wheels
	$(PYTHON) release/check.py $(RELEASE_ARGS)

lint-workflows: $(VENV)/created
	@$(PIP) install --quiet "zizmor~=1.32"
	$(BIN)/zizmor --offline .github/workflows

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- stamps: a file in .venv says what has been done ---------------------------------------------

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "edgewise needs Python 3.11 or later")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The build requirements of pyproject.toml, and what the build backend would add by itself.
$(VENV)/tools-build: pyproject.toml $(VENV)/created
	@echo "Installing what the build needs ..."
	@$(PIP) install --quiet cmake ninja $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

$(VENV)/tools-dev: pyproject.toml $(VENV)/created
	@echo "Installing the linters ..."
	@$(PIP) install --quiet $$($(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*p["dependencies"], *p["optional-dependencies"]["dev"])')
	@touch $@

$(VENV)/installed: $(SOURCES) $(VENV)/tools-build
	@echo "Building and installing edgewise; the first time takes a minute or two ..."
	@$(INSTALL) .
	@touch $@

$(VENV)/installed-%: $(SOURCES) $(VENV)/tools-build
	@echo "Building and installing edgewise[$*]; the first time takes a minute or two ..."
	@$(INSTALL) ".[$*]"
	@touch $@ $(VENV)/installed
