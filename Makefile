# One word a chore. `make setup` makes .venv with everything pinned; the other chores do it when needed.
PYTHON ?= python3.11
BIN := .venv/bin
# Matrix products use one thread: a second beside a busy core costs more than it brings.
export OMP_NUM_THREADS ?= 1

.PHONY: setup train test lint bench zoo-check notebook clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[train,dev]"
	touch $@

RUN := runs/quick-$(shell date +%Y%m%d-%H%M%S)

# About four minutes: a run, then what it has come to, head to head.
train: setup
	$(BIN)/python -m training train configs/quick.toml --run $(RUN)
	$(BIN)/python -m training match $(RUN) random --rules auction-4-partners --deals 5000
	$(BIN)/python -m training match $(RUN) heuristic --rules auction-4-partners --deals 5000

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m training bench

# Every agent of the zoo against what its card says, on fresh deals: under 20 minutes on one core.
zoo-check: setup
	$(BIN)/python -m training zoo --check

notebook: setup
	$(BIN)/jupyter execute --inplace notebooks/first_steps.ipynb

clean:
	rm -rf .venv build dist
