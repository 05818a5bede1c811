"""Answers of any kind, as a submission may give them: no check fails on one, and of each it is told only so much."""

from fractions import Fraction

import pytest

from autograder.measured import ITEMS, TEXT, Allowance, Measured
from course.answers import Raised
from course.exercises import EXERCISES, judge


class Plain:
    """An answer that gives the same plain value to every question."""

    def __init__(self, value):
        self._value = value

    def value(self):
        return self._value

    def call(self, *_):
        return self._value


ROW = {"schedule": "pipedream", "pp": 3, "chunks": 2, "micro_batches": 7, "micro_batch_size": 5, "dp": 2}
STRANGE = [2**4000, -2**4000, 1e308, Fraction(10**1000, 3), Fraction(1, 10**1000), True, None, "", "9" * 5000, "1/0", "%", [], {},
           [[]], [None] * 50, [2**4000], {"a": 2**4000}, [ROW] * 20, {(1, 2): 3}, {None: None}, ["F0", 7, None], "F0 " * 9000,
           {"a": ["F0"]}, [["0F0"] * 30] * 30, Raised("TimeLimit", ""), Raised("X" * 5000, "y" * 5000)]


@pytest.mark.parametrize("grade_id", [grade_id for grade_id, entry in EXERCISES.items() if not entry.manual])
def test_no_check_fails_on_plain_data_of_any_kind(grade_id):
    for value in STRANGE:
        verdict = judge(grade_id, *[Plain(value)] * len(EXERCISES[grade_id].answers))
        assert 0 <= verdict.points < verdict.maximum and verdict.messages, value


def test_a_check_is_told_only_so_much():
    allowance = Allowance()
    answer = Measured(Plain([0] * (ITEMS // 3)), allowance)
    assert [type(answer.call()) for _ in range(4)] == [list, list, Raised, Raised]
    assert answer.value().type == "Ended"
    assert Measured(Plain("x" * (TEXT + 1)), Allowance()).value().type == "Ended"
    assert Measured(Plain(Raised("X", "x" * (TEXT + 1))), Allowance()).value().type == "Ended"
    assert Measured(Plain({"a": [1, Fraction(1, 2)]}), Allowance()).value() == {"a": [1, Fraction(1, 2)]}
