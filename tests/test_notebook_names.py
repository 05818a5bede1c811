"""Names in a notebook: mistyped ones, and those that no cell has made; runs that were refused, looked at later."""

import nbclient
import nbformat
import pytest

from course import notebook as nb
from course.exercises import EXERCISES
from course.predictions import PREDICTIONS


@pytest.mark.parametrize("mistyped", [
    lambda: nb.check("ex1-digram", "F0"), lambda: nb.hint("ex1-digram"), lambda: nb.statements(1), lambda: nb.reveal("best"),
    lambda: nb.when_right("ex1-digram", None), lambda: nb.predict("best", 1, sure=50)])
def test_a_mistyped_name_is_one_line_that_leads_to_the_right_ones(mistyped):
    with pytest.raises(ValueError, match="there is no") as error:
        mistyped()
    line, = error.value._render_traceback_()
    assert line == f"UnknownName: {error.value}" and "All of them: from course." in line and len(line) < 200


@pytest.mark.parametrize(("mistyped", "name"), [
    (lambda: nb.predict("layer-per-stage", 1), "layers-per-stage"), (lambda: nb.reveal("busy_four_fifths"), "busy-four-fifths"),
    (lambda: nb.hint("ex1-digram"), "ex1-diagram"), (lambda: nb.check("ex3_derive", 1), "ex3-derive")])
def test_a_mistyped_name_is_answered_with_the_nearest(mistyped, name):
    with pytest.raises(ValueError, match=f"near it: {name}[,.]") as error:
        mistyped()
    assert str(error.value).partition("near it: ")[2].partition(". All of them")[0].count(",") <= 2


def test_the_way_to_all_names_leads_there(capsys):
    for mistyped, names in ((lambda: nb.hint("x"), EXERCISES), (lambda: nb.reveal("x"), PREDICTIONS)):
        with pytest.raises(ValueError) as error:
            mistyped()
        exec(str(error.value).partition("All of them: ")[2])
        assert capsys.readouterr().out.split() == list(names)


def executed(folder, *cells):
    """The texts that each of these cells shows in a kernel, errors too."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    place = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place, allow_errors=True).execute()
    return ["\n".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") + output.get("evalue", "")
                      for output in cell.outputs) for cell in notebook.cells]


REFUSED, THEN = "Not yet: this would give away", "It does now: run the cell that makes `{}` again."


def test_a_run_that_was_refused_says_later_that_it_may_run_now(folder):
    """Run All over the unanswered notebook, then the check, then the later cells."""
    looks = ["my_run", "my_run.memory()", "my_run.equality()", "where_it_ends({'one': my_run})", "same_step(my_run, my_run)",
             "fewer_stages(my_run, my_run)", "bytes_beside(len, my_run)"]
    many = ["step_times(runs)", "your_choice(len, runs)"]
    said = executed(folder, "from course import schedules\nfrom course.notebook import check, run_for_real, when_right\n"
                    "from course.lessons.bubble import where_it_ends\n"
                    "from course.lessons.step_time import step_times, your_choice\n"
                    "from course.lessons.one_f_one_b import bytes_beside, fewer_stages, same_step\n"
                    "my_run = run_for_real(schedules.gpipe(4, 8), after='ex3-use')\n"
                    "runs = {m: run_for_real(schedules.gpipe(4, m), after='ex3-use') for m in (2, 4)}\nmy_run",
                    *looks, "check('ex3-use', 3 / 11, 7 / 71)", *looks, *many, "del my_run, runs\n_")
    before, after = said[:len(looks) + 1], said[len(looks) + 2:]
    assert [REFUSED in text for text in before] == [True] * len(before), before
    assert [REFUSED in text for text in after] == [False] * len(after), after
    for text in after[:len(looks)]:
        assert THEN.format("my_run") in text
    for text in after[len(looks):-1]:
        assert text.count(THEN.format("runs")) == 1


def test_a_name_that_no_cell_has_made_is_a_sentence_below_the_error(folder):
    _, there, reveal, deep, other = executed(
        folder, "from course.notebook import reveal, check\ndef mine(p): return my_run.slots", "1 / 0",
        "reveal('late-messages', my_run.slots)", "mine(4)", "from course.words import nearest\n"
        "nearest.__globals__.pop('get_close_matches')\nnearest('a', [], '', '')")
    words = "`my_run` is not there yet: the cell above that makes it has not run, or was stopped."
    assert words in reveal and words in deep and "is not defined" in reveal
    assert "is not there yet" not in there + other and "get_close_matches" in other


def test_a_kernel_lives_on_when_an_answer_ends_it(tmp_path):
    """Its `exit()` is IPython's own: it returns, and stops the kernel when the cell is done."""
    cells = ["from course.notebook import check\ncheck('ex3-definitions', lambda p, m: exit(), lambda x: quit())", "print(6 * 7)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    said, after = ("".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs)
                   for cell in notebook.cells)
    assert "SystemExit" in said and "0 of 2 points" in said and after == "42\n"
