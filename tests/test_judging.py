"""Checks in a process of our own: the same verdicts as without one, and what a check that an answer gets at costs."""

import itertools
import json

import pytest

from autograder import judging, measured
from autograder.judging import CheckFailed, Judges, Stopped
from autograder.session import Session
from autograder.trusted_runs import NotRun
from course.answers import LocalAnswer, Raised
from course.checks.bubble_uses import ONE, SEVERAL
from course.exercises import EXERCISES
from course.formulas import micro_batches_needed
from course.wire import from_wire, to_wire
from tests import bank_1_gpipe_diagram, bank_3_bubble_fraction
from tests.bank import judged_locally
from tests.experiment_lines import PLAN, made


class Wired:
    """An answer of a session, for which each reply is a given text."""

    def __init__(self, text):
        self._text = text

    def wire(self, _=None):
        return self._text


class Called:
    """An answer of a session, a function that is called here."""

    def __init__(self, function):
        self._answer = LocalAnswer(function)

    def wire(self, arguments=None):
        return to_wire(self._answer.call(*from_wire(arguments)))


class Plain(Wired):
    """An answer that has come already."""

    def value(self):
        return self._text


def wired(*values):
    return [Wired(to_wire(value)) for value in values]


@pytest.fixture(scope="module")
def poisoned():
    with Judges("tests.poisoned_checks") as judges:
        yield judges


@pytest.fixture(scope="module")
def judges():
    with Judges() as judges:
        yield judges


def test_the_seed_of_a_submission_goes_to_the_check(judges):
    def table(p, fraction):
        return micro_batches_needed(p, fraction) if (p, fraction) in SEVERAL + ONE else 1

    assert judges.judged("ex3-inverse", [Called(table)], None).points == 3
    found = [judges.judged("ex3-inverse", [Called(table)], None, seed=5) for _ in range(2)]
    assert found[0] == found[1] and found[0].points == 0


def obeyed(judges, word):
    return judges.judged("ex3-use", wired(word, "fine"), None).points


@pytest.mark.parametrize(("word", "error", "why"), [
    ("spin", Stopped, "s of computing"), ("sleep", CheckFailed, "time was used up"),
    ("hoard", Stopped, "MiB"), ("exit", Stopped, "process has ended"), ("killed", CheckFailed, "process has ended"),
    ("raise", CheckFailed, "ZeroDivisionError: by 0")])
def test_a_check_that_an_answer_gets_at_costs_that_answer_alone(poisoned, monkeypatch, word, error, why):
    assert obeyed(poisoned, "fine") == 1
    if word == "sleep":
        monkeypatch.setattr(judging, "PATIENCE", 0.5)
    with pytest.raises(error, match=why):
        obeyed(poisoned, word)
    monkeypatch.undo()
    assert obeyed(poisoned, "fine") == 1


def test_when_it_is_closed_nothing_is_left_and_who_still_asks_is_told():
    with Judges() as judges:
        judges.judged("ex1-bubbles", wired(1, 2), None)
        processes = list(judges._all)
    assert processes and all(process.ended for process in processes)
    with pytest.raises(CheckFailed, match="the grader was stopped"):
        judges.judged("ex1-bubbles", wired(1, 2), None)


def test_verdicts_are_those_of_the_notebook(judges):
    with Session(computing=5) as session:
        for bank in (bank_1_gpipe_diagram, bank_3_bubble_fraction):
            for case in (*bank.RIGHT[::9], *bank.WRONG[::9]):
                assert session.run(case.source) is None
                answers = [session.answer(name) for name in EXERCISES[case.grade_id].answers]
                found, verdict = judges.judged(case.grade_id, answers, None), judged_locally(case)
                assert (found.points, found.messages) == (verdict.points, verdict.messages), str(case)
                assert found.steps == verdict.steps and sum(step.points * step.share for step in found.steps) == pytest.approx(
                    found.points), str(case)


def test_what_only_a_run_can_show_comes_from_our_side(judges):
    asked = []

    def run(rows):
        asked.append(rows)
        return made(rows)

    assert judges.judged("ex6-table", wired(made(PLAN), PLAN), run).points == 6
    assert [row.as_dict() for row in asked[0]] == [row.as_dict() for row in judging._read_each(PLAN)]
    assert judges.rows(*wired([*PLAN, PLAN[0], {"pp": "x"}, 7])) == asked[0]

    def broken(rows):
        raise NotRun("no memory")

    with pytest.raises(NotRun, match="no memory"):
        judges.judged("ex6-table", wired(made(PLAN), PLAN), broken)


def test_a_message_that_quotes_an_answer_is_of_a_bounded_length():
    found = judging.judged("ex1-bubbles", [Plain(Raised("x" * 10**5, "y" * 10**4)), LocalAnswer(3 / 7)], None)
    assert max(len(message.text) for message in found.messages) <= judging.LONGEST


COLLIDING = json.dumps({"dict": [[key, 0] for key in itertools.islice(itertools.product((-1, -2), repeat=14), 16_000)]})


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"dict": [[[1, [2]], 3]]}', "NaN", '{"raised": [1, 2]}', "9" * 5000,
                                  COLLIDING])
def test_a_reply_that_is_no_plain_data_is_an_answer_that_cannot_be_read(judges, text):
    found = judges.judged("ex1-bubbles", [Wired(text), *wired(3 / 7)], None)
    assert found.points == 2 and "its reply cannot be read" in found.messages[0].text


def test_slow_replies_end_with_the_time_that_one_exercise_has(monkeypatch):
    class Slow:
        def call(self):
            return "x"

    monkeypatch.setattr(measured, "SECONDS", 0.0)
    answer = measured.Measured(Slow(), measured.Allowance())
    assert answer.call() == "x" and answer.call().type == "TimeLimit"
