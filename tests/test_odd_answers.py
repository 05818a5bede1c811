"""Whatever an answer is, each check gives points and something to say: odd numbers and texts, alone and inside right answers."""

import math
import secrets
from functools import cache
from random import Random

import pytest

from autograder import judging
from course.answers import LocalAnswer, Raised
from course.exercises import EXERCISES, judge
from course.numbers_of_answers import LARGEST
from course.plan import Row
from course.plan_rules import read_plan
from course.wire import from_wire, to_wire
from tests.banks import BANKS
from tests.experiment_lines import made
from tests.odd import ODD, odd, odd_function

CHECKED = [grade_id for grade_id, entry in EXERCISES.items() if not entry.manual]
EACH = 25  # answers of an exercise


@cache
def right(grade_id):
    """The answers of the banks' first right case: functions, and values as plain data."""
    namespace = {}
    exec(next(case.source for bank in BANKS for case in bank.RIGHT if case.grade_id == grade_id), namespace)
    found = [namespace[name] for name in EXERCISES[grade_id].answers]
    return [value if callable(value) else LocalAnswer(value).value() for value in found]


def made_odd(random, value):
    """An answer like this right one, or something else in its place."""
    if callable(value) and random.random() < 0.8:
        return odd_function(random, value)
    return odd(random, None if callable(value) else value) if random.random() < 0.8 else value


def run(rows):
    return made(rows, slot=0.001)


def assert_sound(grade_id, answers, seed):
    """What the graded path and the notebook's say of these answers is points and words that can be shown and kept."""
    for verdict in (judge(grade_id, *map(LocalAnswer, answers)), judging.judged(grade_id, map(LocalAnswer, answers), run, seed)):
        assert 0 <= verdict.points <= EXERCISES[grade_id].points and verdict.messages
        for message in verdict.messages:
            message.text.encode()


def numbers_of(value):
    if isinstance(value, dict | list):
        for item in [*value.values()] if isinstance(value, dict) else value:
            yield from numbers_of(item)
    elif not isinstance(value, str | Raised | None):
        yield value


@pytest.mark.parametrize("grade_id", CHECKED)
def test_an_odd_answer_gets_points_and_words(grade_id):
    seed = secrets.randbelow(2**32)
    for turn in range(EACH):
        random = Random(f"{seed} {turn}")
        answers = [made_odd(random, value) for value in right(grade_id)]
        try:
            assert_sound(grade_id, answers, turn)
        except Exception as error:
            raise AssertionError(f"seed {seed}, turn {turn}: {answers}") from error


@pytest.mark.parametrize("value", ODD, ids=lambda value: ascii(value)[:30])
def test_each_odd_value_is_refused_or_bounded_and_crosses_the_border(value):
    found = LocalAnswer(value).value()
    assert isinstance(found, Raised) or from_wire(to_wire(found)) == found
    assert all(abs(number) <= LARGEST and math.isfinite(number) for number in numbers_of(found))


@pytest.mark.parametrize("value", [*ODD, 2**20_000, float("inf"), float("nan")], ids=lambda value: ascii(value)[:30]
                         if not isinstance(value, int) else str(value.bit_length()))
def test_a_plan_of_odd_values_has_problems_in_words(value):
    good = vars(Row("1f1b", 4, 1, 8, 4))
    for items in (value, [value], *([{**good, name: value}] for name in (*good, "pp "))):
        plan = read_plan(items)
        assert plan.rows or all(str(problem) for problem in plan.problems)
