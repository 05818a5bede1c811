"""The learners' zip: what is in it, what is not, that it is the same each time, and that its notebooks run from it alone."""

import os
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest

from tests.test_repository import SOURCES, solution_lines, tracked
from tools.notebooks import RELEASED
from tools.release import FOLDER, contents, readme, write_release


@pytest.fixture(scope="module")
def files():
    return contents()


@pytest.fixture(scope="module")
def unpacked(files, tmp_path_factory):
    place = tmp_path_factory.mktemp("learner")
    write_release(place / "new" / "course.zip", files)
    with zipfile.ZipFile(place / "new" / "course.zip") as archive:
        archive.extractall(place)
    return place / FOLDER


def test_no_solution_no_grader_no_test_is_in_it(files):
    assert not [name for name in files if re.match(r"(solutions|autograder|tests|benchmarks|\.)", name)]
    notebooks = "\n".join(files[name].decode() for name in files if name.endswith(".ipynb"))
    assert len([name for name in files if name.startswith(f"{RELEASED}/")]) == 8 and "SOLUTION" not in notebooks
    for path in SOURCES.glob("*.py"):
        assert not [line for line in solution_lines(path) if line in notebooks]


def test_all_of_the_library_is_in_it(files):
    listed = {name for name in tracked() if name.startswith("course/")}
    assert listed and listed <= set(files)


def test_the_same_files_make_the_same_bytes(files, tmp_path):
    write_release(tmp_path / "one.zip", files)
    write_release(tmp_path / "two.zip", dict(reversed(files.items())))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.zip"]


def test_a_zip_that_cannot_be_written_leaves_nothing(files, tmp_path):
    with pytest.raises(TypeError):
        write_release(tmp_path / "one.zip", files | {"z": None})
    assert list(tmp_path.iterdir()) == []


def test_its_readme_is_the_learners_part(unpacked):
    text = (unpacked / "README.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Pipeline parallelism, hands on", "## Set up", "## What a learner does"]
    assert "make " not in text and "nbgrader" not in text
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (unpacked / target).exists(), target
    for module in re.findall(r"python3? -m ([\w.]+)", text):
        assert (unpacked / module.replace(".", "/")).is_dir() or (unpacked / f"{module.replace('.', '/')}.py").is_file(), module


def test_the_readmes_other_sections_may_change():
    sections = "".join(f"## {title}\nx\n" for title in ("Other", "What a learner does", "Set up without make"))
    assert readme(f"start\n{sections}") == "start\n## Set up\nx\n## What a learner does\nx\n"


def test_notebook_0_runs_from_it_alone(unpacked):
    folder = unpacked / RELEASED
    surroundings = os.environ | {"PYTHONPATH": str(unpacked)}
    notebook = nbformat.read(folder / "0_start_here.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("import course; print(course.__file__)"))
    nbformat.write(notebook, folder / "run.ipynb")
    done = subprocess.run([sys.executable, "-m", "jupyter", "execute", "--inplace", "run.ipynb"], cwd=folder, env=surroundings,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cells = nbformat.read(folder / "run.ipynb", as_version=4).cells
    assert not [output for cell in cells for output in cell.get("outputs", ()) if output.get("name") == "stderr"]
    assert cells[-1].outputs[0].text.strip() == str(unpacked / "course" / "__init__.py")
