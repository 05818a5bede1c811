"""A submission's cells run in sessions and the checks ask from outside: what an answer earns, and what it cannot cost."""

import contextlib

import pytest

from autograder import judging, measured, questions
from autograder.cells import cells_to_run, without_magics
from autograder.intake import Cell, Submission, read_submission
from autograder.questions import Mark, NotStarted, grade
from autograder.release import read_releases
from autograder.sandbox import Unsandboxed
from course.checks.bubble_uses import ONE, SEVERAL
from course.exercises import EXERCISES, judge
from tests.asked import BEST, FULL, INVERSE, USE, Counted, NoRuns, check, marks, own, points
from tests.submissions import hand_in


def test_right_answers_have_full_points_and_what_is_not_there_has_none():
    found = marks(USE, INVERSE, BEST)
    assert points(found) == FULL
    assert set(found) == {grade_id for grade_id, entry in EXERCISES.items() if not entry.manual}
    assert found["ex1-diagram"] == Mark(0.0, notes=("not handed in",))


def test_a_rejected_notebook_has_its_reason_as_a_note():
    found = grade(Submission({}, rejected={"1_gpipe_diagram": "too large"}), Unsandboxed(), 1, NoRuns())
    assert found["ex1-diagram"] == Mark(0.0, notes=("too large",))


def test_an_answer_is_asked_right_after_its_cell():
    found = marks(USE, own("bubble_4_8 = 0"), INVERSE)
    assert found["ex3-use"].points == 4
    assert marks(own("bubble_8_64 = 1 / 0"), USE)["ex3-use"].points == 4


def test_a_function_is_asked_at_points_of_the_submissions_seed_too():
    table = Cell("ex3-inverse-answer", f"{INVERSE.source}\nknown = {{at: micro_batches_needed(*at) for at in {SEVERAL + ONE}}}\n"
                 "micro_batches_needed = lambda *at: known[at]")
    first, again = (marks(table, seed=7)["ex3-inverse"] for _ in range(2))
    assert first == again and first.points == 0
    assert "KeyError: " in first.messages[0].text


def test_what_was_assigned_before_a_raise_stays_and_the_raise_is_noted():
    found = marks(Cell("ex3-use-answer", "bubble_4_8 = 3 / 11\nraise KeyError('no')\nbubble_8_64 = 7 / 71"), INVERSE)
    assert points(found) | {"ex3-limits": 0} == {"ex3-use": 2, "ex3-inverse": 3, "ex3-limits": 0}
    assert found["ex3-use"].notes == ("ex3-use-answer: KeyError: 'no'",)


def test_ipythons_lines_and_names_cost_nothing():
    cell = Cell("ex3-use-answer", "%matplotlib inline\n!pip install x\ndisplay(1)\nget_ipython().system('ls')\n" + USE.source)
    found = marks(cell, own("def ("), INVERSE)
    assert points(found, "ex3-use", "ex3-inverse") == {"ex3-use": 4, "ex3-inverse": 3}
    assert any("lines with % and !" in note for note in found["ex3-use"].notes)
    assert any("SyntaxError" in note for note in found["ex3-inverse"].notes)


@pytest.mark.parametrize("source, plain", [
    ("x = 1\ny = 7 % 3", None),
    ("%time x = 1\ny = 2", "pass\ny = 2"),
    ("if x:\n    !ls\ny = 2", "if x:\n    pass\ny = 2"),
    ("files = !ls\nhere = %pwd\ny = 2", "pass\npass\ny = 2"),
    ("len?\n?len\ny = 2", "pass\npass\ny = 2"),
    ("%%time\nx = 1\n%pwd", "x = 1\npass"),
    ("%%bash\nrm -r *", "pass"),
    ("%%time\n" * 100_000 + "x = 1", "x = 1"),
    ("%%capture out\n \n%%time\n%%bash\nrm -r *", "pass"),
    ("%%timed\nx = 1", "pass"),
    (")\n" + " " * 190_000 + "x", None),
    ("a " * 90_000 + "\n%pwd", "a " * 90_000 + "\npass"),
    ("print('really?')\nx = 'a' # why?", None),
])
def test_which_lines_are_ipythons(source, plain):
    assert without_magics(source) == plain


@pytest.mark.parametrize("deadly", ["import os\nos._exit(0)", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"])
def test_a_cell_that_ends_its_process_costs_its_own_answer(deadly):
    sandbox = Counted()
    found = marks(INVERSE, Cell("ex3-use-answer", f"{USE.source}\n{deadly}"), BEST, sandbox=sandbox)
    assert points(found) == FULL | {"ex3-use": 0} and sandbox.begun == 3
    assert any("was left out" in note for note in found["ex3-use"].notes)


def test_a_function_that_ends_its_process_costs_its_own_points():
    found = marks(Cell("ex3-inverse-answer", "import os\n\ndef micro_batches_needed(p, fraction):\n    os._exit(1)"), USE, BEST)
    assert points(found) == FULL | {"ex3-inverse": 0}


def test_nothing_is_run_behind_the_last_check():
    sandbox = Counted()
    assert marks(USE, own("import os\nos._exit(1)"), sandbox=sandbox)["ex3-use"].points == 4 and sandbox.begun == 1


def test_a_notebook_is_begun_a_bounded_number_of_times():
    sandbox = Counted()
    found = marks(USE, *[own("import os\nos._exit(1)")] * 20, INVERSE, sandbox=sandbox)
    assert points(found, "ex3-use", "ex3-inverse") == {"ex3-use": 4, "ex3-inverse": 3}
    assert sandbox.begun == questions.STARTS + 1  # the last asks what is left without them


def test_a_process_that_is_ended_from_behind_costs_no_answer_of_another_cell():
    behind = own("import os, threading\nthreading.Timer(0.05, os._exit, [1]).start()")
    slow = Cell("ex3-use-answer", f"import time\ntime.sleep(0.5)\n{USE.source}")
    asleep = Cell("ex3-inverse-answer", f"{INVERSE.source}\nright = micro_batches_needed\n\n"
                  "def micro_batches_needed(p, fraction):\n    time.sleep(0.02)\n    return right(p, fraction)\nimport time")
    assert points(marks(behind, slow, asleep, BEST)) == FULL


RIGHT, WRONG = "bubble_4_8, bubble_8_64 = 3 / 11, 7 / 71", "bubble_4_8 = bubble_8_64 = 0"
END = "import os\nos._exit(0)"


@pytest.mark.parametrize("one, other", [(WRONG, RIGHT), (RIGHT, WRONG)])
@pytest.mark.parametrize("deadly", ["before", "after", "from behind"])
def test_one_answer_counts_which_does_not_depend_on_its_points(one, other, deadly):
    """An answer that differs where the learner's own cells are not run: what ends the process must not bring a second try."""
    behind = "import os, threading, time\nthreading.Timer(0.2, os._exit, [1]).start()"
    end, answer = (own(END), f"if 'first_try' in globals():\n    {one}\nelse:\n    {other}") if deadly != "from behind" else (
        own("1"), f"if 'first_try' in globals():\n    {one}\n    time.sleep(0.4)\nelse:\n    {other}")
    first = own("first_try = True" + f"\n{behind}" * (deadly == "from behind"))
    cells = [first, end, Cell("ex3-use-answer", answer)] if deadly == "before" else [
        first, Cell("ex3-use-answer", answer), end, check("ex3-use")]
    found = marks(*cells, INVERSE, BEST)
    counts = other if deadly == "from behind" else one
    assert found["ex3-use"].points == 4 * (counts == RIGHT), found["ex3-use"]
    assert points(found) == FULL | {"ex3-use": found["ex3-use"].points}


def test_what_was_said_before_it_was_asked_again_is_still_noted():
    noted = Cell("ex3-use-answer", f"{RIGHT}\nimport time\ntime.sleep(0.5)\nraise KeyError('twice')")
    found = marks(own("import os, threading\nthreading.Timer(0.1, os._exit, [1]).start()"), noted, INVERSE)["ex3-use"]
    assert found.points == 4 and [note for note in found.notes if "was left out" in note]
    assert questions.ALONE in found.notes and found.notes[-1] == "ex3-use-answer: KeyError: 'twice'"


def test_asked_again_alone_it_has_the_answers_that_it_needs():
    """An earlier answer falls to a thread from behind: what is asked of it, and of a later one that names it, stays whole."""
    behind = own("import os, threading\nthreading.Timer(0.3, os._exit, [1]).start()")
    derive = Cell("ex3-derive-answer", "import time\ntime.sleep(0.6)\n\n"
                  "def bubble_fraction(p, m):\n    return (p - 1) / (m + p - 1)")
    use = Cell("ex3-use-answer", "bubble_4_8, bubble_8_64 = bubble_fraction(4, 8), bubble_fraction(8, 64)")
    assert points(marks(behind, derive, use, INVERSE, BEST)) == FULL


def test_a_set_up_that_does_not_end_is_no_fault_of_the_learners():
    slow = Cell("ex3-setup", "import os\nos._exit(1)", ours=True)
    with pytest.raises(NotStarted, match="ex3-setup, before any cell of the learner's"):
        marks(slow, USE)
    with_care = Cell("ex3-setup", "import os\nos.getcwd()", ours=True)
    assert marks(own("import os\nos.getcwd = lambda: os._exit(1)"), with_care, USE)["ex3-use"].points == 4


def test_slow_cells_and_slow_functions_leave_time_for_the_others(monkeypatch):
    monkeypatch.setattr(questions, "OWN", 0.5)
    slow = [own("import time\ntime.sleep(0.4)")] * 40
    function = Cell("ex3-inverse-answer", "def micro_batches_needed(p, fraction):\n    time.sleep(0.5)")
    monkeypatch.setattr(measured, "SECONDS", 0.8)
    found = marks(*slow, function, USE, BEST, budget=12.0)
    assert points(found) == FULL | {"ex3-inverse": 0}
    assert any("such cells have taken more than 0.5 s" in note for note in found["ex3-inverse"].notes)


def test_of_the_time_of_a_submission_some_is_kept_for_each_later_notebook(monkeypatch):
    monkeypatch.setattr(questions, "KEPT", 0.6)
    slow = [Cell("ex1-bubbles-answer", "import time\ntime.sleep(60)"), check("ex1-bubbles")]
    use = [USE, check("ex3-use")]
    found = grade(Submission({"1_gpipe_diagram": slow, "3_bubble_fraction": use}), Unsandboxed(), 1, NoRuns(), budget=6.0)
    assert found["ex3-use"].points == 4 and found["ex1-bubbles"].points == 0


def test_notebooks_share_nothing():
    one = [own("import course.formulas as f\nf.bubble_fraction = None\nbubble_4_8 = 3 / 11"), check("ex1-bubbles")]
    two = [own("bubble_8_64 = 7 / 71"), check("ex3-use")]
    found = grade(Submission({"1_gpipe_diagram": one, "3_bubble_fraction": two}), Unsandboxed(), 1, NoRuns())
    assert found["ex3-use"].points == 2


def test_when_the_time_is_used_up_the_rest_is_not_asked():
    found = marks(USE, budget=0)
    assert found["ex3-use"] == Mark(0.0, notes=("not asked: the 0 s of a submission were used up",))


def test_a_session_that_does_not_come_up_is_no_fault_of_the_learners():
    class Broken(Unsandboxed):
        def session(self, **limits):
            session = super().session(**limits)
            session.close()
            return session

    with pytest.raises(NotStarted):
        marks(USE, sandbox=Broken())


def test_a_check_of_ours_that_fails_is_no_mark(monkeypatch):
    def broken(grade_id, *answers, **trusted):
        return judge(grade_id, *answers, **trusted) if grade_id != "ex3-use" else 1 / 0

    monkeypatch.setattr(judging, "judge", broken)
    found = marks(USE, INVERSE)
    assert points(found, "ex3-use", "ex3-inverse") == {"ex3-use": None, "ex3-inverse": 3}
    assert "not graded: the check itself failed (ZeroDivisionError" in found["ex3-use"].notes[-1]


def test_random_answers_are_the_same_each_time_and_tell_nothing_of_the_seed():
    cell = Cell("ex3-use-answer", "import random\nimport numpy\nimport torch\n"
                "print(torch.initial_seed(), hash(random.getstate()[1]), numpy.random.get_state()[1].sum())\n"
                "bubble_4_8 = random.random()\nbubble_8_64 = numpy.random.rand()")
    first, again, other = (marks(cell, seed=seed)["ex3-use"] for seed in (1, 1, 2))
    assert first == again == other and len(first.printed.split()) == 3


class Overheard(Unsandboxed):
    """Notes all that is run where the learner's code is."""

    def __init__(self):
        super().__init__()
        self.heard = []

    @contextlib.contextmanager
    def session(self, **limits):
        with super().session(**limits) as session:
            run = session.run
            session.run = lambda source: (self.heard.append(source), run(source))[1]
            yield session


def test_the_seed_is_told_to_nobody_who_runs_with_the_learners_code():
    sandbox, seed = Overheard(), 20_261_130
    assert marks(INVERSE, own("print(1)"), sandbox=sandbox, seed=seed)["ex3-inverse"].points == 3
    assert sandbox.heard and not [source for source in sandbox.heard if str(seed) in source]


def test_what_cells_print_is_kept_with_the_mark_that_comes_next():
    found = marks(own("print('first')"), USE, own("print('second')\nprint = None"), INVERSE, own("'third'"), BEST)
    assert [found[grade_id].printed.split() for grade_id in FULL] == [["first"], ["second"], []]


def test_what_a_cell_prints_stands_under_its_own_check_alone():
    """Whatever it sees of what is written, and whenever it writes: only when it came says where it belongs."""
    forger = own("""import sys
class Forger:
    def write(self, text):
        real.write(text)
        if "ex3-use" in text:
            real.write("forged" + chr(10) + text.replace("ex3-use", "ex3-inverse"))
    def __getattr__(self, name):
        return getattr(real, name)
real, sys.__stdout__ = sys.__stdout__, Forger()
sys.stdout = sys.__stdout__
print("ex3-use")""")
    found = marks(forger, USE, INVERSE, own("print('third', end='')"), BEST)
    assert "forged" in found["ex3-use"].printed and found["ex3-inverse"].printed == ""
    assert "third" in found["ex3-limits"].printed and "third" not in found["ex3-use"].printed


def test_of_our_cells_the_set_up_runs_and_what_a_learner_names():
    cells = [Cell("ex1-setup", "from course import schedules", ours=True), Cell(None, "show(1)", ours=True),
             Cell(None, "runs = {m: 1 for m in (1, 2)}", ours=True), Cell(None, "base = 3", ours=True),
             Cell(None, "my_run = made(base)", ours=True), Cell(None, "# words", "markdown"),
             Cell("ex1-bubbles-answer", "x = my_run.m"), check("ex1-bubbles"), Cell(None, "print(1)")]
    assert cells_to_run(cells) == [0, 3, 4, 6, 8]


def test_released_notebooks_run_none_of_our_showing_cells(tmp_path):
    found = read_submission(hand_in(tmp_path, "one", "notebooks").parent, read_releases())
    for name, cells in found.notebooks.items():
        assert {cells[place].grade_id is not None for place in cells_to_run(cells)} == {True}, name
