"""What a notebook calls, outside a kernel: everything shows itself as text too, nothing raises on a learner's slip."""

import json
import re

import pytest

from course import Costs, schedules, simulate
from course import notebook as nb
from course.answers import LocalAnswer
from course.exercises import EXERCISES
from course.lessons.experiment_table import shortest
from course.progress import FILE, FIRST_NOTEBOOK
from course.real_run import NoRun
from tests.bank_1_gpipe_diagram import FIRST_OUT


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / FIRST_NOTEBOOK).write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nb, "_predictions", {})
    return tmp_path


def shown(value):
    bundle = value._repr_mimebundle_()
    assert bundle["text/html"] and bundle["text/plain"] == repr(value)
    return bundle["text/plain"]


def test_check_shows_its_messages_and_is_its_points(capsys, folder):
    verdict = nb.check("ex1-diagram", FIRST_OUT)
    said = capsys.readouterr()
    assert repr(verdict) == "10.0" and verdict.points == 10.0
    assert "10 of 10 points" in said.out and said.err == "" and (folder / FILE).exists()


ALL_EXERCISES = "All of them: from course.exercises import EXERCISES; print(*EXERCISES)"


@pytest.mark.parametrize("grade_id", ["ex1", "", None, 3, []])
def test_an_unknown_exercise_is_named_with_the_way_to_those_that_exist(grade_id):
    for ask in (lambda: nb.check(grade_id, ""), lambda: nb.hint(grade_id)):
        with pytest.raises(ValueError, match=re.escape(ALL_EXERCISES)) as error:
            ask()
        assert repr(grade_id) in str(error.value) and ("near it: ex1-" in str(error.value)) == (grade_id == "ex1")


def test_a_wrong_number_of_answers_is_named():
    with pytest.raises(ValueError, match=r"takes 2 answers \(bubbles_per_stage, bubble_fraction_4_4\), got 1"):
        nb.check("ex1-bubbles", [6])


@pytest.mark.parametrize("entry", EXERCISES.values(), ids=EXERCISES)
def test_three_hints_by_number_or_by_button(entry, folder):
    assert [hint in shown(nb.hint(entry.grade_id, number)) for number, hint in enumerate(entry.hints, 1)] == [True] * 3
    for number in (2.0, "2", " 2 "):
        assert entry.hints[1] in shown(nb.hint(entry.grade_id, number))
    for number in (4, 1.5, "two", [1], 10**400, True, ...):
        assert "There is no hint" in shown(nb.hint(entry.grade_id, number))
    assert "There is no hint 4" in shown(nb.hint(entry.grade_id, 4))
    buttons = nb.hint(entry.grade_id)
    assert len(buttons.labels) == 3 and buttons.read == []
    views = [nb.hint(entry.grade_id, number).html for number in (1, 2, 3)]
    for wanted, read in ((2, 0), (4, 0), (-1, 0), (1, 1), (2, 2), (1, 2), (3, 3)):  # one after the other, and none goes away
        buttons.wanted = wanted
        assert buttons.read == views[:read]
    assert nb.Progress().read()["hints"][entry.grade_id] == 3


@pytest.mark.parametrize("subject", [FIRST_OUT, schedules.gpipe(4, 4), simulate(schedules.gpipe(4, 4))])
def test_show_takes_text_schedule_and_timeline(subject):
    assert shown(nb.show(subject, title="GPipe")).startswith("GPipe\nF0 F1 F2 F3 ")
    assert "bubble" in shown(nb.show(subject)) and "bubble" not in shown(nb.show(subject, summary=False))


def test_show_with_costs():
    said = shown(nb.show(schedules.gpipe(2, 2), costs=Costs(1, 2)))
    assert "B0 ~" in said and "(~ the operation on its left goes on)" in said
    assert "~" not in shown(nb.show(schedules.gpipe(2, 2)))


@pytest.mark.parametrize(("text", "words"), [
    ("...", "not answered"), (..., "not answered"), ("F0 X", "Row 0, slot 1"), (3, "int")])
def test_show_says_what_it_cannot_read(text, words):
    assert words in shown(nb.show(text))


def test_practice_has_messages_and_no_points(folder):
    right = "F0 F1 . . B0 B1\n. F0 F1 B0 B1 ."
    assert "Practice: right" in shown(nb.practise(right, stages=2, micro_batches=2))
    assert "not there yet" in shown(nb.practise(right.replace(". B0", "B0 .", 1), stages=2, micro_batches=2))
    assert not (folder / FILE).exists()


@pytest.mark.parametrize(("subject", "words"), [
    ("...", "Draw your answer"), (..., "Draw your answer"), (None, "Draw your answer"), ("F0 Q", "Row 0, slot 1"),
    (FIRST_OUT.replace("F0 F1", "F1 F0", 1), "Not run"), ("F0 B0", "Not run"),
])
def test_a_drawing_that_cannot_run_starts_no_process(subject, words, monkeypatch):
    monkeypatch.setattr("course.real_run.run", lambda *_, **__: pytest.fail("a process was touched"))
    found = nb.run_for_real(subject)
    assert isinstance(found, NoRun) and words in shown(found)
    assert found.slots is ... and "no run" in shown(found.traffic()) and "no run" in shown(found.equality())
    assert nb.run_for_real(found.backwards_reversed()).slots is ...


@pytest.mark.parametrize("show", [
    lambda: nb.run_for_real(FIRST_OUT, after="ex1-bubbles"), lambda: nb.reveal("middle-idles", after="ex1-bubbles"),
    lambda: nb.when_right("ex1-bubbles", nb.paragraphs("the answer"))])
def test_what_gives_an_answer_away_waits_for_full_points(show, monkeypatch):
    monkeypatch.setattr("course.real_run.run", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.setattr(nb, "_full_points", set())
    nb.check("ex1-bubbles", [0] * 4, 0)
    assert "comes once its check gives full points" in shown(show())


def test_what_waited_comes_with_full_points(monkeypatch):
    monkeypatch.setattr(nb, "_full_points", set())
    nb.check("ex1-bubbles", [6] * 4, 3 / 7)
    assert "same" in shown(nb.reveal("middle-idles", after="ex1-bubbles"))
    nb._full_points.clear()  # as after a restart: the record knows
    assert shown(nb.when_right("ex1-bubbles", nb.paragraphs("the answer"))) == "the answer"


@pytest.mark.parametrize("nothing", [None, ..., shortest(None), shortest(...)])
def test_what_no_run_has_given_yet_is_not_revealed(nothing):
    assert "Not known yet" in shown(nb.reveal("fastest-row", nothing))


def test_what_is_costly_to_make_is_made_only_when_it_is_shown(monkeypatch):
    monkeypatch.setattr(nb, "_full_points", set())
    assert "comes once its check" in shown(nb.when_right("ex1-bubbles", lambda: pytest.fail("it was made")))
    nb.check("ex1-bubbles", [6] * 4, 3 / 7)
    assert shown(nb.when_right("ex1-bubbles", lambda: nb.paragraphs("the answer"))) == "the answer"


def test_what_waits_names_its_exercise_wherever_that_is(monkeypatch):
    monkeypatch.setattr(nb, "_full_points", set())
    text = shown(nb.when_right("ex3-use", nb.paragraphs("the answer")))
    assert '"Two bubbles in numbers"' in text and "above" not in text


def test_a_cell_that_was_skipped_is_named_in_one_sentence(monkeypatch):
    def of_the_library():
        return another_name  # noqa: F821

    monkeypatch.setattr(nb, "_full_points", {"ex1-bubbles"})
    text = shown(nb.when_right("ex1-bubbles", lambda: nb.show(skipped_run)))  # noqa: F821
    assert text.startswith("`skipped_run` is not there yet: the cell above that makes it has not run") and "\n" not in text
    with pytest.raises(NameError, match="another_name"):
        nb.when_right("ex1-bubbles", lambda: of_the_library())


def test_a_check_that_is_stopped_says_so_in_one_line(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    for stop in (lambda: nb.check("ex3-derive", stopped, stopped, stopped), lambda: nb.show(stopped),
                 lambda: LocalAnswer(stopped).call()):
        with pytest.raises(KeyboardInterrupt) as error:
            stop()
        assert error.value._render_traceback_() == ["Interrupted: your answer was still being computed. Does a loop of it end?"]


def test_a_title_that_asks_has_no_colon_after_it(capsys):
    nb.check("ex3-inverse", ...)
    nb.check("ex3-use", ..., ...)
    said = capsys.readouterr().out
    assert "does it take? 0 of 3 points" in said and "Two bubbles in numbers: 0 of 4 points" in said


def one_f_one_b(p, m, stage):
    return " ".join(map(str, schedules.one_f_one_b(p, m).ranks[stage]))


def stuck(p, m, stage):
    return ["F0", "B0"] if stage else ["B0", "F0"]


def test_a_function_of_orders_is_shown_and_run_like_a_drawing(monkeypatch):
    assert shown(nb.show(one_f_one_b, stages=2, micro_batches=2, summary=False)) == (
        "F0 F1 .  B0 .  B1\n.  F0 B0 F1 B1 .\n\nThe step takes 6 slots.")
    ran = []
    monkeypatch.setattr("course.real_run.run", lambda schedule, **_: ran.append(schedule))
    nb.run_for_real(one_f_one_b, stages=3, micro_batches=5)
    assert ran[0].ranks == schedules.one_f_one_b(3, 5).ranks


def test_a_function_of_orders_that_waits_for_ever_is_drawn_as_far_as_it_goes(monkeypatch):
    monkeypatch.setattr("course.real_run.run", lambda *_, **__: pytest.fail("a process was touched"))
    said = shown(nb.show(stuck, stages=2, micro_batches=1))
    assert said.startswith("As far as it goes") and "! B0 comes before F0, which it needs, on stage 0\n" in said
    assert "stage 0 is at B0 and waits for F0 of stage 0" in said
    assert "Not run" in shown(nb.run_for_real(stuck, stages=2, micro_batches=1))


@pytest.mark.parametrize(("function", "words"), [
    (lambda p, m, stage: ..., "not answered yet"), (lambda p, m: [], "raised TypeError"),
    (lambda p, m, stage: 3, "a list of tokens"),
])
def test_a_function_of_orders_that_gives_none_says_so(function, words):
    assert words in shown(nb.show(function)) and words in shown(nb.run_for_real(function))


@pytest.mark.parametrize("name", ["NBGRADER_EXECUTION", "NBGRADER_VALIDATING"])
def test_while_grading_nothing_runs_and_nothing_is_written(monkeypatch, folder, name):
    monkeypatch.setenv(name, "1")
    monkeypatch.setattr("course.real_run.run", lambda *_, **__: pytest.fail("a process was touched"))
    before = sorted(folder.iterdir())
    shown(nb.run_for_real(FIRST_OUT)), shown(nb.check_machine()), shown(nb.hand_in())
    nb.check("ex1-diagram", FIRST_OUT)
    assert sorted(folder.iterdir()) == before


def test_progress_names_what_is_next(folder):
    assert "Next: The GPipe diagram, in 1_gpipe_diagram" in shown(nb.progress())
    nb.Progress().record_verdict("ex1-diagram", 10, 10)
    assert "Next: Counting the bubble" in shown(nb.progress())
    for entry in EXERCISES.values():
        if not entry.manual:
            nb.Progress().record_verdict(entry.grade_id, entry.points, entry.points)
    by_hand = [entry for entry in EXERCISES.values() if entry.manual]
    assert "not written" in shown(nb.progress()) and f"Next: {by_hand[0].title}" in shown(nb.progress())
    for entry in by_hand:
        write_text(folder, entry, "It fills, it alternates, it drains.")
    assert "All exercises have full points or wait" in shown(nb.progress()) and "a person marks it" in shown(nb.progress())
    nb.Progress().record_verdict("ex1-bubbles", 2, 4)
    assert "2 (once 4)" in shown(nb.progress()) and "Next: Counting the bubble" in shown(nb.progress())


def test_progress_counts_parts_and_points(folder):
    judged = sum(entry.points for entry in EXERCISES.values() if not entry.manual)
    parts = [entry for entry in EXERCISES.values() if entry.notebook == "1_gpipe_diagram"]
    assert f"Points so far: 0 of {judged:g}; " in shown(nb.progress())
    for entry in parts:
        nb.Progress().record_verdict(entry.grade_id, entry.points - 0.5, entry.points)
    points = sum(entry.points - 0.5 for entry in parts)
    told = shown(nb.progress())
    assert f"Points so far: {points:g} of {judged:g}; " in told and f"0 of {len(parts)}" in told and "✓" not in told
    for entry in parts:
        nb.Progress().record_verdict(entry.grade_id, entry.points, entry.points)
    (row,) = [line for line in shown(nb.progress()).splitlines() if "✓" in line]
    assert row.split() == ["✓", "1_gpipe_diagram", *f"{len(parts)} of {len(parts)} 20 of 20".split()]


def write_text(folder, entry, text):
    cell = {"cell_type": "markdown", "source": text, "metadata": {"nbgrader": {"grade_id": entry.grade_id}}}
    path = folder / f"{entry.notebook}.ipynb"
    cells = json.loads(path.read_text())["cells"] if path.exists() else []
    path.write_text(json.dumps({"cells": [*cells, cell]}))


def test_hand_in_says_what_is_missing():
    assert "1_gpipe_diagram.ipynb is not in" in shown(nb.hand_in())
