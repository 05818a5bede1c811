# Set-up and daily commands. `make` alone lists them.

PYTHON ?= python3
# PyTorch's own index of CPU builds, used only while torch is not yet in .venv.
# TORCH_INDEX= leaves pip as it is configured; TORCH_INDEX=cuda takes the default build.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
LAB_FLAGS ?=
# make test TESTS=tests/test_schedule.py ARGS="-k gpipe" runs only these, without the linters
TESTS ?=
ARGS ?=
STRICT ?=
export STRICT
# processes that test side by side, whole files each; 0: none beside make's own
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
START := notebooks/pipeline_parallelism/0_start_here.ipynb
SETUP := pyproject.toml tools/environment.py tools/labconfig/pipeline-parallelism.json

SAMPLE := build/sample_class
GRADE_FLAGS ?=
BENCHMARKS := core open_lab frontier pool step_time pacing layout layout_run lab explorer grading notebooks

.PHONY: help lab test notebooks release grade bench lint clean

help:
	@echo "make lab         set up .venv and open JupyterLab at the first notebook (LAB_FLAGS=\"--no-browser --port 9999\")"
	@echo "make test        set up .venv and run all that this machine can (STRICT=1: what is left out fails)"
	@echo "make notebooks   generate the notebooks from solutions/pipeline_parallelism/*.py"
	@echo "make release     make the learners' zip, without solutions and grader, in dist/"
	@echo "make grade       grade eight made-up submissions in $(SAMPLE) (GRADE_FLAGS=--no-sandbox where there is no sandbox)"
	@echo "make bench       measure against peers: $(BENCHMARKS) (minutes)"
	@echo "make lint        ruff, spelling, the import contract, stale notebooks"
	@echo "make clean       delete .venv and caches; your notebooks stay"
	@echo "settings: PYTHON=$(PYTHON) TORCH_INDEX=$(TORCH_INDEX) WORKERS=$(WORKERS)"

# a stamp says that the environment was completed for this pyproject.toml; .dev is .lab and more
$(VENV)/.lab: $(SETUP)
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) here; this course needs Python 3.11 or newer: make lab PYTHON=..."; exit 1; }
	@$(PYTHON) -m tools.environment $(VENV) --torch-index "$(TORCH_INDEX)"
	@touch $@

$(VENV)/.dev: $(SETUP)
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) here; this course needs Python 3.11 or newer: make test PYTHON=..."; exit 1; }
	@$(PYTHON) -m tools.environment $(VENV) --dev --torch-index "$(TORCH_INDEX)"
	@touch $(VENV)/.lab $@

# nbgrader calls `alembic` by its bare name, so .venv's programs must be on PATH
lab: $(VENV)/.lab
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab --ServerApp.root_dir="$(CURDIR)" $(LAB_FLAGS) "$(START)"

# sockets have short paths, and some tests make theirs below the place for temporary files
test: $(VENV)/.dev $(if $(TESTS),,lint)
	@place=$$(mktemp -d /tmp/test.XXXX) || exit; \
	$(BIN)/python -m pytest $(if $(TESTS),,-n $(WORKERS) --dist loadfile --no-loadscope-reorder) --basetemp="$$place" $(ARGS) $(TESTS); \
	code=$$?; rm -rf "$$place"; exit $$code

# notebooks in which somebody has worked are no fault of the code: only STRICT fails on them
lint: $(VENV)/.dev
	@echo "ruff"; $(BIN)/ruff check
	@echo "spelling"; $(BIN)/codespell
	@echo "import contract"; $(BIN)/lint-imports --no-cache --no-logo
	@echo "notebooks against their sources"; $(BIN)/python -m tools.notebooks --check || [ "$${STRICT:-0}" = 0 ]

notebooks: $(VENV)/.dev
	@$(BIN)/python -m tools.notebooks

release: $(VENV)/.dev
	@$(BIN)/python -m tools.release

# 1 is what grading a class ends with in which a submission was rejected
grade: $(VENV)/.lab
	@rm -rf $(SAMPLE)
	$(BIN)/python -m autograder.sample_class $(SAMPLE)/downloads
	$(BIN)/python -m autograder collect $(SAMPLE)/downloads --into $(SAMPLE)/submitted
	$(BIN)/python -m autograder grade $(SAMPLE)/submitted --json $(SAMPLE)/marks.json $(GRADE_FLAGS) || [ $$? = 1 ]
	$(BIN)/python -m autograder report --gradebook $(SAMPLE)/gradebook.db --json $(SAMPLE)/marks.json --csv $(SAMPLE)/class.csv

bench: $(VENV)/.dev
	@for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name || exit; done

clean:
	@rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis
	@find course autograder benchmarks tools tests -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "deleted .venv and caches"
