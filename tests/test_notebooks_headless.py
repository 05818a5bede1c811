"""Every notebook from top to bottom: solved with full points, released with none and no traceback, nothing on stderr."""

import pytest

from course.exercises import EXERCISES
from tests.headless import names, outputs, results, run_notebook

NO_TORCH = "import sys\nassert 'torch' not in sys.modules, 'the kernel has imported torch'"
ALL = [(kind, name) for kind in ("solutions", "notebooks") for name in names(kind)]


@pytest.fixture(scope="module", params=ALL, ids=lambda param: "-".join(param))
def executed(request, tmp_path_factory):
    kind, name = request.param
    return kind, name, run_notebook(kind, name, tmp_path_factory.mktemp("notebook"), NO_TORCH)


def test_it_runs_and_has_its_points(executed):
    kind, name, notebook = executed
    wanted = {entry.grade_id: entry.points if kind == "solutions" else 0.0
              for entry in EXERCISES.values() if f"{entry.notebook}.ipynb" == name and not entry.manual}
    assert results(notebook) == wanted


def test_nothing_on_stderr_and_every_output_has_a_text_form(executed):
    _, _, notebook = executed
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.get("name") != "stderr", (cell.source, output)
            assert output.output_type == "stream" or output.data.get("text/plain"), (cell.source, output)
            assert "<" not in "".join(outputs(cell))[:1], cell.source


def test_each_check_has_hints_and_a_question_of_its_own(executed):
    _, name, notebook = executed
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    for entry in EXERCISES.values():
        if f"{entry.notebook}.ipynb" == name:
            at = ids.index(entry.grade_id)
            question = at - 1 if entry.manual else at - 2
            assert ids[question] == f"{entry.grade_id}-question" and (entry.manual or ids[at - 1] == f"{entry.grade_id}-answer")
            assert notebook.cells[at + 1].source == f'hint("{entry.grade_id}")'
            assert f"({entry.points} point{'s' * (entry.points != 1)})" in notebook.cells[question].source


def test_no_released_cell_gives_an_answer_away(tmp_path):
    """What the released notebook shows when it is run as it is: not the diagram, not the fractions."""
    notebook = run_notebook("notebooks", "1_gpipe_diagram.ipynb", tmp_path)
    shown = "\n".join(text for cell in notebook.cells if cell.cell_type == "code" for text in outputs(cell))
    for secret in ("F0 F1 F2 F3", "F0F1F2F3", "3/7", "0.428", "42.9", "21 slots", "14 slots"):
        assert secret not in shown, secret


def test_a_right_diagram_runs_for_real_and_is_measured(tmp_path):
    notebook = run_notebook("solutions", "1_gpipe_diagram.ipynb", tmp_path)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("my_run ="))
    (text,) = outputs(cell)
    drawn, measured = text.split("Measured on 4 processes")
    rows = drawn.splitlines()[1:5]
    assert rows[0].split() == ["F0", "F1", "F2", "F3", ".", ".", ".", ".", ".", ".", "B0", "B1", "B2", "B3"]
    order = [[token for token in row.split() if token not in ".~"] for row in rows]
    assert [[token for token in row.split() if token not in ".~"] for row in measured.splitlines()[1:5]] == order
    equality = next(outputs(cell)[0] for cell in notebook.cells if cell.source == "my_run.equality()")
    difference = float(equality.rsplit(":", 1)[1])
    assert difference <= 1e-6
