import subprocess
import sys

import nbclient
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert import HTMLExporter

from course import Timeline, schedules, simulate
from course.drawing import read_drawing
from course.widgets.grid_editor import MOST_SLOTS, grid_editor, written

CELLS = st.one_of(st.sampled_from(["", "."]), st.builds("{}{}".format, st.sampled_from("FB"), st.integers(0, 12)))
ROWS = st.lists(st.lists(CELLS, max_size=8), min_size=1, max_size=5)
GPIPE = str(simulate(schedules.gpipe(4, 4)))


def without_tail(rows):
    """Rows without what is not marked at their ends."""
    rows = [list(row) for row in rows]
    for row in rows:
        while row and row[-1] in ("", "?"):
            row.pop()
    return rows


@given(ROWS)
def test_what_is_written_reads_the_same(rows):
    text = written(rows)
    if text:
        assert without_tail([cell.replace("?", "") for cell in row] for row in read_drawing(text).rows) == without_tail(rows)
        assert grid_editor(text, stages=len(rows)).text == text
    else:
        assert not any(map(any, rows))


def test_rows_that_are_not_marked_keep_their_place():
    drawing = written([[], ["", "F0"], [], ["."]])
    assert drawing == "?\n?  F0\n?\n."
    assert Timeline.from_grid(drawing, 4, 1).spans[0].rank == 1


def test_a_drawing_comes_back_as_it_went():
    editor = grid_editor(f"\n{GPIPE}\n")
    assert (editor.text, editor.saved, editor.note, editor.slots) == (GPIPE, GPIPE, "", 14)


def test_a_lenient_drawing_is_shown_in_its_plain_form():
    assert grid_editor("stage 0: f0\tb0\nstage 1: . ~", stages=2, slots=1).note
    editor = grid_editor("stage 0: f0 | B0 ~ # mine\n\nstage 1: . f0", stages=3, slots=1)
    assert (editor.text, editor.slots) == ("F0 B0 ~\n.  F0\n?", 3)


@pytest.mark.parametrize("text", ["...", "\n...\n", "", "   \n", ...])
def test_an_unanswered_stub_is_an_empty_grid(text):
    editor = grid_editor(text)
    assert (editor.text, editor.note) == ("", "")


@pytest.mark.parametrize(("text", "kept", "why"), [
    ("F0 hello F1", "F0 ?  F1\n?\n?\n?", "“hello” is not a cell"), ("~ F0", "?  F0\n?\n?\n?", "there is none"),
    ("F0\n" * 5, "F0\nF0\nF0\nF0", "5 rows, but only 4 stages"),
])
def test_of_what_can_be_read_in_part_that_part_is_kept(text, kept, why):
    editor = grid_editor(text)
    assert editor.text == kept and why in editor.note and "Not all of the text" in editor.note


@pytest.mark.parametrize(("text", "why"), [
    ("hello", "“hello” is not a cell"), (None, "this is None"), (12, "this is an int"), ([["F0"]], "this is a list"),
    ("F0 " * (MOST_SLOTS + 1), "201 slots"), ("~", "there is none"),
])  # fmt: skip
def test_what_cannot_be_read_is_an_empty_grid_and_a_reason(text, why):
    editor = grid_editor(text)
    assert editor.text == "" and why in editor.note and "starts empty" in editor.note


@pytest.mark.parametrize("sizes", [{"stages": 0}, {"slots": -1}, {"micro_batches": "4"}, {"stages": 2.5}])
def test_sizes_are_checked(sizes):
    (name,) = sizes
    with pytest.raises(ValueError, match=f"{name} = .*at least 1"):
        grid_editor("...", **sizes)


def test_without_a_front_end_the_drawing_is_text():
    for text, shown in ((GPIPE, GPIPE), ("...", "(nothing drawn yet)")):
        editor = grid_editor(text)
        data = editor._repr_mimebundle_()[0]
        assert data["text/plain"] == repr(editor) and repr(editor).startswith(shown)
        assert "write the drawing between the quotes" in repr(editor)


def test_a_headless_run_writes_nothing_to_stderr():
    code = 'from course.widgets.grid_editor import grid_editor\ndiagram = """\n...\n"""\ngrid_editor(diagram)'
    cells = [nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell("diagram")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output["output_type"] == "execute_result" and output["data"]["text/plain"].startswith("(nothing drawn yet)")
    assert notebook.cells[1].outputs[0]["data"]["text/plain"] == "'\\n...\\n'"
    assert HTMLExporter().from_notebook_node(notebook)[0]


def test_the_script_is_one_module():
    script = grid_editor("...")._esm
    assert script.count("export default") == 1 and "import " not in script
    assert "http" not in script + grid_editor("...")._css  # nothing is fetched


def test_widgets_leave_torch_out():
    code = "import sys, course.widgets; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")
