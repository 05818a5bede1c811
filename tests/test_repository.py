"""The repository as a whole: environments agree, imports stay light, nothing leaks, files stay small."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath

import pytest
import yaml

from tools.notebooks import RELEASED, SOLVED
from tools.sources import read_cells

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / SOLVED
CONDA_NAMES = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}
# modules that may be imported where torch, Jupyter and matplotlib are not installed
PURE = ["course/*.py", "course/schedules/*.py", "course/checks/*.py", "course/layout/*.py"]
NOT_PURE = ["course/notebook.py", "course/experiments.py", "course/progress_bar.py", "course/layout/run.py"]
HEAVY = {"torch", "numpy", "pandas", "IPython", "matplotlib", "ipywidgets", "anywidget", "cloudpickle"}


def tracked(*patterns):
    """Files under version control, or every file where this is no checkout."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        names = [name for name in listed.split("\0") if name and (ROOT / name).exists()]
    else:
        skipped = {".venv", "__pycache__", ".git"}
        paths = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
        names = [p.as_posix() for p in paths if not skipped & set(p.parts)]
    return [name for name in names if not patterns or any(PurePosixPath(name).match(p) for p in patterns)]


# --- environments -----------------------------------------------------------------------------------------


def split(requirement):
    name, ranges = re.fullmatch(r"([A-Za-z0-9_.-]+)\s*(.*)", requirement).groups()
    return name, ranges


def test_binders_environment_has_the_ranges_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = dict(split(requirement) for requirement in project["dependencies"])
    assert wanted.pop("torch") == "==2.13.0"
    wanted = {CONDA_NAMES.get(name, name): ranges for name, ranges in wanted.items()}
    wanted |= {"python": "=3.11", "pip": "", "pytorch-cpu": "=2.13"}

    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    assert dict(split(requirement) for requirement in environment["dependencies"]) == wanted


def test_every_dependency_has_a_lower_and_an_upper_end():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        ranges = split(requirement)[1]
        assert ranges.startswith("==") or (">=" in ranges and ",<" in ranges), requirement


def test_binder_builds_from_environment_yml():
    done = subprocess.run(
        ["jupyter-repo2docker", "--no-build", "--debug", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Building conda environment for python=3.11" in done.stdout + done.stderr
    assert re.search(r"COPY .*src/environment\.yml", done.stdout)
    assert re.search(r"RUN \./postBuild", done.stdout)
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()


def test_post_build_stops_at_the_first_failure_and_is_a_program():
    lines = (ROOT / "postBuild").read_text(encoding="utf-8").splitlines()
    assert "set -e" in lines
    assert "python -m pip install --no-deps -e ." in lines
    for name in ("postBuild", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111, name


# --- imports ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["course", "course.exercises", "course.formulas", "course.layout", "course.schedules"])
def test_a_fresh_interpreter_stays_light(module):
    code = f"import sys, {module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_the_pure_part_needs_only_the_standard_library():
    allowed = set(sys.stdlib_module_names) | {"course"}
    files = [name for name in tracked(*PURE) if name not in NOT_PURE]
    assert "course/schedule.py" in files
    assert {name: extra for name in files if (extra := set(imported(ROOT / name)) - allowed)} == {}


def test_checks_start_no_process():
    starters = {"subprocess", "multiprocessing", "concurrent", "asyncio"}
    files = tracked("course/checks/*.py", "course/exercises.py")
    assert files
    assert {name: bad for name in files if (bad := starters & set(imported(ROOT / name)))} == {}


# --- notebooks --------------------------------------------------------------------------------------------


def notebooks(folder):
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / folder).glob("*.ipynb")}
    assert found
    return found


def text_of(cell):
    return "".join(cell["source"])


def test_notebooks_holds_only_notebooks():
    assert [n for n in tracked() if n.startswith("notebooks/") and not n.endswith(".ipynb")] == []
    assert {path.stem for path in SOURCES.glob("*.py")} == set(notebooks(RELEASED)) == set(notebooks(SOLVED))


@pytest.mark.parametrize("folder", [RELEASED, SOLVED])
def test_committed_notebooks_hold_no_outputs(folder):
    for name, notebook in notebooks(folder).items():
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                assert (cell["outputs"], cell["execution_count"]) == ([], None), name


def solution_lines(path):
    for cell in read_cells(path):
        inside = False
        for line in cell.source.splitlines():
            if "END SOLUTION" in line:
                inside = False
            elif "BEGIN SOLUTION" in line:
                inside = True
            elif (inside or cell.tag == "manual") and len(line.strip()) >= 12:
                yield line.strip()


def test_no_line_of_a_solution_is_released():
    released = notebooks(RELEASED)
    everything = "\n".join(text_of(cell) for notebook in released.values() for cell in notebook["cells"])
    for path in sorted(SOURCES.glob("*.py")):
        for line in solution_lines(path):
            assert line not in everything, f"{path.name}: {line}"
    assert "SOLUTION" not in everything


def test_notebooks_import_only_the_course():
    for path in sorted(SOURCES.glob("*.py")):
        for cell in read_cells(path):
            if cell.kind == "code":
                for node in ast.walk(ast.parse(cell.source)):
                    if isinstance(node, ast.Import | ast.ImportFrom):
                        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
                        assert {name.split(".")[0] for name in names} == {"course"}, f"{cell.place}: {names}"


# --- files ------------------------------------------------------------------------------------------------


def test_no_tracked_file_names_a_place_on_one_machine():
    places = re.compile("|".join(f"(?<![A-Za-z.~]){re.escape(place)}" for place in (f"/{'work'}/", f"/{'root'}/")))
    found = []
    for name in tracked():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{n}: {line.strip()}" for n, line in enumerate(text.splitlines(), 1) if places.search(line)]
    assert found == []


def test_no_python_file_is_longer_than_300_lines():
    # a notebook's source is mostly its text, and as long as the lesson
    files = [name for name in tracked("*.py") if not name.startswith(f"{SOLVED}/")]
    lengths = {n: len((ROOT / n).read_text(encoding="utf-8").splitlines()) for n in files}
    assert {name: length for name, length in lengths.items() if length > 300} == {}

