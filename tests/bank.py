"""A bank of answers: cells as a learner writes them, with the points and the message codes that each must get."""

from typing import NamedTuple

import pytest

from course.answers import LocalAnswer
from course.exercises import EXERCISES, judge


class Case(NamedTuple):
    """`source` sets the answers of `grade_id`; `codes` are among the codes of the verdict's messages."""

    grade_id: str
    source: str
    points: float
    codes: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.grade_id}: {self.source.strip()[:60]!r}"


def judged_locally(case: Case, seed: int | None = None):
    """The verdict when the cell runs in this process, as in a notebook; or with a submission's seed."""
    namespace = {}
    exec(case.source, namespace)
    return judge(case.grade_id, *(LocalAnswer(namespace[name]) for name in EXERCISES[case.grade_id].answers), seed=seed)


def judged_remotely(case: Case, session):
    """The verdict when the cell runs in a process of its own and only plain data comes back."""
    assert session.run(case.source) is None
    return judge(case.grade_id, *(session.answer(name) for name in EXERCISES[case.grade_id].answers))


def assert_verdict(case: Case, verdict):
    """The points are the case's, its codes are there, and no message is empty, endless or a traceback."""
    codes = [message.code for message in verdict.messages]
    assert verdict.points == case.points, (str(case), verdict.points, verdict.messages)
    assert set(case.codes) <= set(codes), (str(case), codes)
    assert verdict.messages and all(5 < len(message.text) < 600 and "Traceback" not in message.text
                                    for message in verdict.messages), verdict.messages
    assert repr(verdict) == repr(float(case.points))


def bank_tests(cases):
    """The two tests of a bank: in the notebook, and from outside with the same verdict; a module needs a fixture `session`."""
    @pytest.mark.parametrize("case", cases, ids=str)
    def in_the_notebook(case):
        assert_verdict(case, judged_locally(case))

    @pytest.mark.parametrize("case", cases, ids=str)
    def from_outside(case, session):
        verdict = judged_remotely(case, session)
        assert_verdict(case, verdict)
        assert verdict == judged_locally(case), str(case)

    return in_the_notebook, from_outside
