# The commands to remember. Each sets up what it needs, from a clean clone, in .venv and build/.
#   make demo    `lineal demo`: train, certify, explain and report on data that every machine has
#   make test    the test suite, then the native tests under sanitizers
#   make check   format, lint, types, layers, stubs
#   make fuzz    made-up texts against the laws of the native text path, for FUZZ_SECONDS (60)
#   make fuzz-files   broken model and data files by the million, for FUZZ_SECONDS (60)
#   make bench   every speed bar against its peers, written to docs/performance.md and README.md (BARS=P2,P10: some of them)
#   make bench-quick, bench-table   a look in under three minutes; tables and pictures of what was measured before
#   make bench-growth, bench-roofline   data doubled to a million documents; bytes a second beside a plain loop over memory
#   make everyday   learners with their defaults on the tables people start with, written to docs/performance.md
#   make counts  instructions of the inner loops (counts-check: fails where one grew)
#   make paths   a whole L1 path against other libraries, written to docs/path.md
#   make bench-text   texts to features to models against scikit-learn, written to docs/text.md
#   make bench-groups  the group lasso against adelie and skglm, written to docs/groups.md
#   make bench-bayes  naive Bayes against scikit-learn's, written to docs/naive-bayes.md
#   make bench-neighbors   exact neighbours against scikit-learn and faiss, written to docs/neighbors.md
#   make bench-strategies   one-vs-rest, one-vs-one and codes on real data, written to docs/strategies.md
#   make bench-online  one pass over IMDB against Vowpal Wabbit, scikit-learn and river (bench-stream: a long stream)
#   make bench-evaluation  levels of tests and coverage of intervals, simulated, written to docs/comparing.md
#   make bench-selection   columns ranked against scikit-learn, written to docs/selection.md
#   make bench-svm    kernel machines against LIBSVM and scikit-learn-intelex, written to docs/svm.md
#   make bench-tuning  a grid of strengths over texts against GridSearchCV, written to docs/tuning.md
#   make bench-weak   few labels: self-training and co-training on two views of posts, written to docs/weak-supervision.md
#   make bench-command  the command line against three peers, start-up, default accuracies, written to docs/command-line.md
#   make wild    default fits on raw tables out of packages, a sample of nine minutes, written to docs/performance.md
#   make grid    every loss x penalty x solver, certified or refused, written to docs/grid.md
#   make pictures, make curves   optimisers and models drawn: on generated data, optimisers on real data

PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(shell find native/include native/bind -type f) CMakeLists.txt pyproject.toml

.PHONY: demo test test-slow fuzz fuzz-files check format stubs bench bench-quick bench-table bench-growth bench-roofline everyday counts counts-check bench-text bench-bayes bench-command bench-evaluation bench-groups bench-neighbors bench-online bench-ranking bench-selection bench-strategies bench-stream bench-svm bench-tuning bench-weak grid paths pictures curves reference wild clean
.DEFAULT_GOAL := help

help:
	@sed -n '2,/^$$/s/^# *//p' Makefile

# The build tools come as wheels; --no-build-isolation keeps the build directory warm between builds. Of the two
# builds of the core this machine needs one.
FOR_THIS_MACHINE := --quiet --disable-pip-version-check --no-build-isolation --config-settings cmake.define.LINEAL_THIS_MACHINE=ON
CORE = lineal._core_$$($(BIN)/python -c "from lineal import _core; print(_core.build)")

.venv/.tools: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=1.1" "nanobind>=3.1" cmake ninja
	@touch $@

.venv/.built: .venv/.tools $(NATIVE) $(shell find src -name '__init__.py')
	@echo "building the native core (some minutes the first time)"
	$(BIN)/python -m pip install $(FOR_THIS_MACHINE) --editable ".[test]"
	@touch $@

.venv/.check: .venv/.built
	$(BIN)/python -m pip install $(FOR_THIS_MACHINE) --editable ".[test,check]"
	@touch $@

demo: .venv/.built
	@$(BIN)/python -m lineal demo build/demo

# Tests take turns in a process for each core, up to four. The native ones need a compiler alone: they are compiled
# and run beside all else, from the first download on, and shown last (MAKE_COMMAND and not MAKE, so that `make -n`
# shows what it would do). Processes side by side leave no core for threads of BLAS, which spin while they wait;
# and the many that tests start read each other's bytecode.
test test-slow: export OPENBLAS_NUM_THREADS = 1
test test-slow: export PYTHONDONTWRITEBYTECODE =
test:
	@mkdir -p build; bash native/tests/run.sh >build/native-tests.log 2>&1 & native=$$!; \
	$(MAKE_COMMAND) --no-print-directory .venv/.built && \
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal; python=$$?; \
	wait $$native; native=$$?; cat build/native-tests.log; \
	exit $$((python != 0 || native != 0))

test-slow: .venv/.built
	$(BIN)/python -m pytest -m slow -n auto --maxprocesses 4 --dist worksteal

# Needs a compiler only; what breaks is left in build/fuzz/.
fuzz:
	@bash native/fuzz/run.sh

# FUZZ_FILES_OPTIONS="--only container --count 1000000" is a long one of one kind.
fuzz-files: .venv/.built
	$(BIN)/python benchmarks/fuzz/run.py $(or $(FUZZ_FILES_OPTIONS),--seconds $(or $(FUZZ_SECONDS),60))

check: .venv/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(find native -name '*.h' -o -name '*.cpp')
	$(BIN)/python -m nanobind.stubgen -q -m $(CORE) -o build/_core.pyi
	diff -u src/lineal/_core.pyi build/_core.pyi

format: .venv/.check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/clang-format -i $$(find native -name '*.h' -o -name '*.cpp')

# The help of every verb into docs/command-line.md, and what is said of broken input into docs/messages.md.
reference: .venv/.built
	$(BIN)/python docs/command_reference.py
	$(BIN)/python docs/messages_page.py >/dev/null 2>&1

stubs: .venv/.check
	$(BIN)/python -m nanobind.stubgen -q -m $(CORE) -o src/lineal/_core.pyi

# BARS=P2,P10 measures some; the others keep what was measured before.
bench: .venv/.built
	$(BIN)/python benchmarks/bars/run.py $(if $(BARS),--bars $(BARS))

bench-quick: .venv/.built
	$(BIN)/python benchmarks/bars/run.py --quick $(if $(BARS),--bars $(BARS))

bench-table: .venv/.built
	$(BIN)/python benchmarks/bars/run.py --table

# GROWTH_OPTIONS="--most 20000" is a try that keeps nothing.
bench-growth: .venv/.built
	$(BIN)/python benchmarks/bars/doubling.py $(GROWTH_OPTIONS)

bench-roofline: .venv/.built
	$(BIN)/python benchmarks/bars/roofline.py

# EVERYDAY_OPTIONS="--only SGD,digits --keep" measures some lines, and the others keep what was measured before.
everyday: .venv/.built
	$(BIN)/python benchmarks/everyday/run.py $(or $(EVERYDAY_OPTIONS),--keep)

# Need valgrind, and say so.
counts: .venv/.built
	$(BIN)/python benchmarks/counts/counts.py

counts-check: .venv/.built
	$(BIN)/python benchmarks/counts/counts.py --check

# TEXT_OPTIONS="--only speed,memory" runs parts; "--texts 2000" tries it on a few texts and keeps nothing.
bench-text: .venv/.built
	$(BIN)/python benchmarks/text/run.py $(TEXT_OPTIONS)
	$(BIN)/python benchmarks/bars/run.py --table

# BAYES_OPTIONS="--texts 2000" tries it on a few texts and keeps nothing.
bench-bayes: .venv/.built
	$(BIN)/python benchmarks/bayes/run.py $(BAYES_OPTIONS)
	$(BIN)/python benchmarks/bars/run.py --table

# EVALUATION_OPTIONS="--share 0.05" is a short one that keeps nothing.
bench-evaluation: .venv/.built
	$(BIN)/python benchmarks/evaluation/run.py $(EVALUATION_OPTIONS)

# GROUPS_OPTIONS="--shapes tall --ours" is a look at ours that keeps nothing.
bench-groups: .venv/.built
	$(BIN)/python benchmarks/groups/run.py $(GROUPS_OPTIONS)

bench-neighbors: .venv/.built
	$(BIN)/python benchmarks/neighbors/run.py
	$(BIN)/python benchmarks/bars/run.py --table

# STRATEGIES_OPTIONS="--rows 2000" tries it on a few rows and keeps nothing.
bench-strategies: .venv/.built
	$(BIN)/python benchmarks/strategies/run.py $(STRATEGIES_OPTIONS)

# SELECTION_OPTIONS="--texts 2000" tries it on a few texts and keeps nothing.
bench-selection: .venv/.built
	$(BIN)/python benchmarks/selection/run.py $(SELECTION_OPTIONS)

# ONLINE_OPTIONS="--texts 2000" tries it on a few texts and keeps nothing.
bench-online: .venv/.built
	$(BIN)/python benchmarks/online/run.py $(ONLINE_OPTIONS)
	$(BIN)/python benchmarks/bars/run.py --table

# STREAM_OPTIONS="--examples 100000" is a short one.
bench-stream: .venv/.built
	$(BIN)/python benchmarks/online/stream.py $(STREAM_OPTIONS)

# SVM_OPTIONS="--rows 3000" is a try that keeps nothing.
bench-svm: .venv/.built
	$(BIN)/python benchmarks/kernel_machines/run.py $(SVM_OPTIONS)
	$(BIN)/python benchmarks/bars/run.py --table

# RANKING_OPTIONS="--folds 1" is a try that keeps nothing.
bench-ranking: .venv/.built
	$(BIN)/python benchmarks/ranking/run.py $(RANKING_OPTIONS)

# TUNING_OPTIONS="--texts 1000" is a try that keeps nothing.
bench-tuning: .venv/.built
	$(BIN)/python benchmarks/tuning/run.py $(TUNING_OPTIONS)

# WEAK_OPTIONS="--seeds 2" is a try that keeps nothing.
bench-weak: .venv/.built
	$(BIN)/python benchmarks/weak_supervision/run.py $(WEAK_OPTIONS)

# COMMAND_OPTIONS="--parts startup" measures a part.
bench-command: .venv/.built
	$(BIN)/python benchmarks/command/run.py $(COMMAND_OPTIONS)
	$(BIN)/python benchmarks/bars/run.py --table

# WILD_OPTIONS="--seconds 20000" goes through all of them; "--only Hinge --seconds 60" is a look that keeps nothing.
wild: .venv/.built
	$(BIN)/python benchmarks/wild/run.py $(WILD_OPTIONS)

grid: .venv/.built
	$(BIN)/python benchmarks/grid/run.py

paths: .venv/.built
	$(BIN)/python benchmarks/paths/run.py
	$(BIN)/python benchmarks/paths/dense.py

pictures: .venv/.built
	$(BIN)/python examples/optimisers.py build/pictures
	$(BIN)/python examples/outliers.py build/pictures
	$(BIN)/python examples/neighbors.py build/pictures
	$(BIN)/python examples/xor.py build/pictures
	$(BIN)/python examples/svm_pictures.py build/pictures
	$(BIN)/python examples/random_features.py 20000 build/pictures
	$(BIN)/python examples/two_moons.py build/pictures
	$(BIN)/python examples/many_models.py build/pictures

curves: .venv/.built
	$(BIN)/python benchmarks/curves/run.py

clean:
	rm -rf build .venv
