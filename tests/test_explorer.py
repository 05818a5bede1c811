"""The Explorer without a browser: its numbers, its refusals, its static form, its coming and going."""

import itertools
import re
import subprocess
import sys
from fractions import Fraction

import nbclient
import nbformat
import numpy
import pytest
from ipywidgets.widgets.widget import _instances as living
from nbconvert import HTMLExporter

from course import notebook as nb
from course.schedules import SCHEDULES
from course.widgets.exploration import LIMITS, NONE_KNOWN, Scope, explored, most_held, read_setting
from course.widgets.explorer import Explorer, answer, explorer
from course.widgets.still import NEEDS_KERNEL

RATIOS = (Fraction(1, 2), 1, Fraction(3, 2), 2, 3, 4)
START = {"schedule": "1f1b", "ranks": 4, "micro_batches": 8, "chunks": 1, "backward": 1.0}


def rows(*sizes):
    return explored(read_setting(*sizes)).rows


@pytest.mark.parametrize("backward", RATIOS)
@pytest.mark.parametrize("name", ["gpipe", "1f1b", "interleaved_1f1b"])
def test_what_is_simulated_is_what_the_closed_form_says(name, backward):
    for p, m, v in itertools.product((1, 2, 3, 4, 8), (1, 3, 4, 8, 24), (1, 2, 3)):
        for what, simulated, closed in rows(name, p, m, v, backward):
            found, known = simulated.partition(" =")[0].partition(",")[0], closed.partition("= ")[2]
            if what.startswith("bubble"):
                found = simulated
            assert found == known, (name, p, m, v, what)


def test_the_lessons_numbers_as_a_learner_reads_them():
    assert rows("1f1b", 4, 8, 1, 1) == (
        ("step", "22 slots", "(m + p - 1)(F + B) = 22 slots"),
        ("bubble, idle over total", "3/11 = 27.3%", "(p - 1)/(m + p - 1) = 3/11 = 27.3%"),
        ("most micro-batches held, per stage", "4 3 2 1", "min(m, p - stage) = 4 3 2 1"))
    step, bubble, held = rows("interleaved_1f1b", 4, 8, 2, 1)
    assert step[1] == "38 slots, each a chunk's forward: as long as 19 forwards of a whole rank"
    assert bubble[1:] == ("3/19 = 15.8%", "(p - 1)/(v m + p - 1) = 3/19 = 15.8%")
    assert held[1] == "11 9 7 5 = 5.5 4.5 3.5 2.5 micro-batches of a whole rank"
    assert rows("gpipe", 4, 8, 1, 1.5)[0][1] == "27.5 slots"


def test_a_schedule_without_a_closed_form_says_so(monkeypatch):
    entry = SCHEDULES["gpipe"]
    monkeypatch.setitem(SCHEDULES, "mine", type(entry)("mine", "Mine", entry.make, False, "any", "me"))
    assert [closed for _, _, closed in rows("mine", 4, 8, 1, 1)] == [NONE_KNOWN] * 3


def test_what_is_refused_from_the_start_is_a_sentence_and_the_sliders_go_on(monkeypatch):
    made = explorer("interleaved_1f1b", 4, 6, 2)
    assert repr(made).startswith("No interleaved 1F1B of this size.") and repr(made).endswith(NEEDS_KERNEL)
    made.wanted = {**made.wanted, "micro_batches": 8, "turn": 1}
    assert made.shown["picture"].startswith("<svg")
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    assert "No interleaved 1F1B of this size." in nb.explore("interleaved_1f1b", 4, 6, 2).html


def test_what_a_schedule_refuses_is_a_sentence_and_the_sliders_go_on():
    made = explorer("interleaved_1f1b", 4, 8, 2)
    made.wanted = {**made.wanted, "micro_batches": 6, "turn": 1}
    assert (made.shown["picture"], made.shown["turn"]) == ("", 1)
    (remark,) = made.shown["remarks"]
    assert "needs a multiple of ranks = 4 (Megatron's rule); 4 or 8 would do" in remark
    made.wanted = {**made.wanted, "micro_batches": 8, "turn": 2}
    assert made.shown["picture"].startswith("<svg") and made.shown["remarks"] == [] and made.shown["turn"] == 2


def test_where_formulas_are_to_be_found_they_are_nowhere(monkeypatch):
    made = explorer("1f1b", 4, 8, schedules=("gpipe", "1f1b"), formulas=False)
    made.wanted = {**made.wanted, "ranks": 3, "memory": True, "turn": 1}
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    graded = nb.explore("1f1b", 4, 8, schedules=("gpipe", "1f1b"), formulas=False)
    for text in (made.shown["numbers"], repr(made), made._still.html, repr(graded), graded.html):
        assert "closed form" not in text and "p - " not in text and "bubble, idle over total" in text
    assert made.shown["numbers"].count("<td") == 3 and made.shown["numbers"].count("<th scope='col'") == 2
    assert "step: 22 slots\nbubble, idle over total: 3/11 = 27.3%\n" in repr(graded)
    assert "closed form" in repr(explorer("1f1b", 4, 8))


def test_sliders_and_words_are_those_of_what_is_offered():
    plain, chunked = explorer("1f1b", 4, 8, 3, schedules="gpipe"), explorer()
    assert [words for _, words, *_ in plain.sliders] == ["stages p", "micro-batches m", "backward : forward"]
    assert [words for _, words, *_ in chunked.sliders] == ["ranks p", "micro-batches m", "chunks a rank v",
                                                           "backward : forward"]
    assert plain.shown["remarks"] == [] and "rank" not in repr(plain) and "1F1B, 4 stages, 8 micro-batches" in repr(plain)
    assert "1F1B, 4 ranks" in repr(chunked)


def memory_of(name, *offered, chunks=1, p=4, m=8):
    scope = Scope(offered)
    shown = explored(read_setting(name, p, m, chunks, 1, memory=True), scope).figure.text
    return shown[shown.index("held; "):]


def test_the_memory_of_all_schedules_offered_has_one_scale():
    for offered in (("gpipe", "1f1b"), ("gpipe", "1f1b", "interleaved_1f1b")):
        gpipe, ours = (memory_of(name, *offered) for name in ("gpipe", "1f1b"))
        assert "full height is 8, the most in any schedule here" in gpipe and "full height is 8" in ours
        assert "█" in gpipe and "peak 8 micro-batches" in gpipe
        assert "█" not in ours and "▄▄" in ours and "peak 4 micro-batches" in ours and "peak 1 micro-batch\n" in ours
    assert "full height is 16" in memory_of("interleaved_1f1b", "gpipe", "interleaved_1f1b", chunks=2)
    assert "full height is 11" in memory_of("interleaved_1f1b", "1f1b", "interleaved_1f1b", chunks=2)
    assert "full height is 4" in memory_of("1f1b", "1f1b")


def test_the_scale_counts_what_can_be_drawn(monkeypatch):
    entry = SCHEDULES["gpipe"]

    def refusing(p, m, v):
        raise ValueError("no")

    monkeypatch.setitem(SCHEDULES, "mine", type(entry)("mine", "Mine", entry.make, False, "any", "me"))
    monkeypatch.setitem(SCHEDULES, "none", type(entry)("none", "None", refusing, False, "any", "me"))
    assert most_held(read_setting("1f1b", 4, 8, 1, 1), Scope(("1f1b", "none"))) == 4
    assert most_held(read_setting("1f1b", 4, 8, 1, 1), Scope(("1f1b", "mine"))) == 8


def test_a_slider_that_does_nothing_says_so():
    found = explored(read_setting("1f1b", 4, 8, 3, 1))
    assert found.rows == rows("1f1b", 4, 8, 1, 1)
    assert found.remarks == ("1F1B has one stage a rank, so the slider of chunks does nothing here.",)


@pytest.mark.parametrize("wanted", [{}, {"turn": 3}, {**START, "ranks": 99}, {**START, "backward": "x"}, {**START, "more": 1},
                                    {**START, "schedule": None}, {**START, "ranks": None}])
def test_nothing_that_a_page_could_send_raises(wanted):
    assert answer(wanted)["remarks"] and not answer(wanted)["picture"]


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_limits_of_the_sliders(name):
    for corner in itertools.product(*LIMITS.values()):
        found = answer(dict(zip(LIMITS, corner, strict=True)) | {"schedule": name, "memory": True, "grid": True})
        assert found["picture"].startswith("<svg") or re.search("would do|; take", found["remarks"][-1])


def test_memory_and_text_are_shown_when_asked():
    plain, more = answer(START), answer({**START, "memory": True, "grid": True})
    assert "micro-batches held" not in plain["picture"] and plain["grid"] == ""
    assert "micro-batches held" in more["picture"] and "F0 B0 F1 B1" in more["grid"] and "peak 4" in more["grid"]


@pytest.mark.parametrize(("given", "words"), [
    ({"ranks": 0}, "ranks = 0: a whole number from 1 to 16"), ({"ranks": "x"}, "ranks = 'x'"), ({"ranks": 2.5}, "ranks = 2.5"),
    ({"ranks": True}, "ranks = True"), ({"micro_batches": 65}, "from 1 to 64"), ({"chunks": 5}, "from 1 to 4"),
    ({"chunks": None}, "chunks = None"), ({"backward": 0}, "backward = 0: a backward takes 0.5 to 4 forwards"),
    ({"backward": 1.2}, "in steps of 1/2"), ({"backward": float("nan")}, "backward = nan"), ({"backward": "2"}, "backward = '2'"),
    ({"schedule": "gpip"}, "'gpip' is not known: take one of gpipe, 1f1b"), ({"schedule": []}, "schedule = []"),
    ({"schedules": ["1f1b", "x"]}, "schedules: 'x' is not known"), ({"schedules": ()}, "name one or more of gpipe"),
    ({"schedules": 3}, "schedules = 3: name one"),
])
def test_what_cannot_be_explored_is_one_sentence(given, words, monkeypatch):
    with pytest.raises(ValueError) as raised:
        explorer(**given)
    assert words in str(raised.value)
    said = nb.explore(**given)
    assert repr(said) == f"Nothing to explore: {raised.value}." and words in repr(said)
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    assert repr(nb.explore(**given)) == repr(said)


def test_numbers_of_any_kind_and_names_in_any_form():
    made = explorer("gpipe", numpy.int64(2), numpy.int64(3), 1, numpy.float64(1.5), schedules="1f1b")
    assert made.wanted["backward"] == 1.5 and [name for name, _ in made.choices] == ["gpipe", "1f1b"]
    assert [name for name, _ in explorer(schedules=["gpipe", "1f1b", "gpipe"]).choices] == ["gpipe", "1f1b"]


def test_explorers_do_not_share_what_they_show():
    one, two = explorer(), explorer()
    before = two.shown
    one.wanted = {**one.wanted, "ranks": 2, "turn": 1}
    assert one.shown != before == two.shown


class Shell:
    def __init__(self):
        self.parent = {}

    def get_parent(self):
        return self.parent

    def runs(self, cell, run):
        self.parent = {"metadata": {"cellId": cell}, "header": {"msg_id": run}}


def explorers():
    return {name for name, made in living.items() if isinstance(made, Explorer)}


def test_a_cell_that_runs_again_leaves_nothing_behind(monkeypatch):
    shell = Shell()
    monkeypatch.setattr(sys.modules["course.widgets.in_cell"], "get_ipython", lambda: shell)
    before = set(living)
    shell.runs("a", "1")
    one, two = explorer(), explorer()
    shell.runs("b", "2")
    other = explorer()
    assert explorers() - before == {made.model_id for made in (one, two, other)}
    shell.runs("a", "3")
    again = explorer()
    assert explorers() - before == {again.model_id, other.model_id}
    assert one.comm is None and other.comm is not None
    again.close()
    shell.runs("a", "4")
    assert explorer().comm is not None


def test_while_graded_or_validated_there_is_a_picture_and_no_widget(monkeypatch):
    before = len(living)
    for name in ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING"):
        monkeypatch.setenv(name, "1")
        bundle = nb.explore("gpipe", 4, 4)._repr_mimebundle_()
        assert "<svg" in bundle["text/html"] and "3/7 = 42.9%" in bundle["text/html"]
        assert "F0 F1 F2 F3 B0" in bundle["text/plain"] and NEEDS_KERNEL in bundle["text/plain"]
        monkeypatch.delenv(name)
    assert len(living) == before


@pytest.fixture(scope="module")
def executed():
    code = "from course.notebook import explore\nexplore('gpipe', 4, 4)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (code, "explore(ranks=0)")])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def test_a_saved_notebook_holds_the_picture_beside_the_widget(executed):
    picture, widget = executed.cells[0].outputs
    assert picture.data["text/plain"].startswith("GPipe, 4 ranks, 4 micro-batches\nF0 F1 F2 F3 . ")
    assert NEEDS_KERNEL in picture.data["text/html"] and NEEDS_KERNEL in picture.data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in widget.data and widget.data["text/plain"]
    (said,) = executed.cells[1].outputs
    assert said.output_type == "execute_result" and said.data["text/plain"].startswith("Nothing to explore: ranks = 0")


@pytest.mark.parametrize("with_state", [True, False])
def test_converted_to_html_the_picture_stands_once_with_its_numbers(executed, with_state):
    notebook = nbformat.from_dict(executed)
    if not with_state:
        notebook.metadata.pop("widgets", None)
    page = HTMLExporter().from_notebook_node(notebook)[0]
    body = page[page.index("<body"):]
    body = body.partition('<script type="application/vnd.jupyter.widget-state+json">')[0]
    assert body.count('role="img"') == 1 and body.count("3/7 = 42.9%") >= 1 and body.count(f"<p>{NEEDS_KERNEL}</p>") == 1


def test_the_script_is_one_module():
    script = Explorer._esm
    assert str(script).count("export default") == 1 and "import " not in str(script)
    assert "http" not in str(script) + str(Explorer._css)  # nothing is fetched


def test_the_explorer_leaves_torch_and_matplotlib_out():
    code = "import sys, course.widgets.explorer; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")
