"""Questions drawn from a submission's seed: a table of what everybody is asked is not enough, and nothing else changes."""

import pytest

from course.answers import LocalAnswer, Raised
from course.checks.bubble_fraction import POINTS
from course.checks.fresh import Seeded, drawn, pipeline
from course.exercises import EXERCISES, judge
from course.formulas import bubble_fraction
from tests import bank_2_1f1b_phases, bank_3_bubble_fraction, bank_4_virtual_stages, bank_5_tp_pp_dp_design
from tests.bank import judged_locally

SEEDS = (1, 20_261_130, 2**31 - 1)
BANKS = (bank_2_1f1b_phases, bank_3_bubble_fraction, bank_4_virtual_stages, bank_5_tp_pp_dp_design)
SOLVED = {  # grade_id -> a bank's case that has full points
    case.grade_id: case for bank in BANKS for case in reversed(bank.RIGHT)
    if case.points == EXERCISES[case.grade_id].points}
TABLES = ("ex2-order", "ex2-phases", "ex2-in-flight", "ex4-order", "ex4-layers", "ex4-flags", "ex3-limits",
          "ex3-derive", "ex3-inverse", "ex3-definitions", "ex4-cost", "ex5-volumes", "ex5-memory")
LEFT = {"ex4-flags": 1.5}  # grade_id -> points of a table, where not all of it is functions


class Noted:
    """A right answer that notes what it is asked and what it said."""

    def __init__(self, value):
        self._answer, self.said = LocalAnswer(value), []

    def value(self):
        return self._answer.value()

    def call(self, *arguments):
        self.said.append((arguments, self._answer.call(*arguments)))
        return self.said[-1][1]

    def table(self):
        """A function that knows these replies and no other: a KeyError."""
        known = {repr(arguments): reply for arguments, reply in self.said}

        def look_up(*arguments):
            if isinstance(found := known[repr(arguments)], Raised):
                raise ValueError(found.text)
            return found

        return look_up


def noted(grade_id, seed=None):
    """The answers of a right case, once they were asked."""
    namespace = {}
    exec(SOLVED[grade_id].source, namespace)
    answers = [Noted(namespace[name]) for name in EXERCISES[grade_id].answers]
    assert judge(grade_id, *answers, seed=seed).points == EXERCISES[grade_id].points
    return answers


@pytest.mark.parametrize("grade_id", TABLES)
def test_a_table_of_what_everybody_is_asked_is_not_enough(grade_id):
    tables = [LocalAnswer(answer.table() if answer.said else answer.value()) for answer in noted(grade_id)]
    assert judge(grade_id, *tables).points == EXERCISES[grade_id].points
    for seed in SEEDS:
        verdict = judge(grade_id, *tables, seed=seed)
        assert verdict.points == LEFT.get(grade_id, 0), (seed, verdict)
        assert not all(message.good for message in verdict.messages), (seed, verdict.messages)


@pytest.mark.parametrize("grade_id", TABLES)
def test_the_same_seed_asks_the_same(grade_id):
    asked = {seed: [[arguments for arguments, _ in answer.said] for answer in noted(grade_id, seed)] for seed in (None, *SEEDS)}
    for seed in SEEDS:
        assert [[arguments for arguments, _ in answer.said] for answer in noted(grade_id, seed)] == asked[seed], seed
        for answer, before in zip(asked[seed], asked[None], strict=True):
            new = {repr(arguments) for arguments in answer} - {repr(arguments) for arguments in before}
            assert not before or 1 <= len(new) <= 10, (seed, new)
    assert len({repr(replies) for replies in asked.values()}) == 1 + len(SEEDS)


def test_in_whatever_unit_a_table_of_slots_stands_a_drawn_size_tells():
    def total(p, m):
        return 2 * p * (m + p - 1) if (p, m) in POINTS else 7

    for seed in SEEDS:
        verdict = judge("ex3-derive", *map(LocalAnswer, (total, lambda p, m: 2 * p * m, bubble_fraction)), seed=seed)
        p, m = next(size for size in drawn(Seeded(None, seed), pipeline, POINTS) if total(*size) == 7)
        assert verdict.points == 5, (seed, verdict)
        assert f"`total_slots({p}, {m})` returned 7: not right." in verdict.messages[0].text, (seed, verdict.messages)


CASES = list({case.source: case for bank in BANKS
              for case in bank.RIGHT + bank.WRONG if case.grade_id in TABLES}.values())


@pytest.mark.parametrize("grade_id", TABLES)
def test_each_answer_of_the_banks_has_the_same_points_with_a_seed(grade_id):
    print("seeds", SEEDS)
    for turn, case in enumerate(CASES):
        if case.grade_id == grade_id:
            for seed in SEEDS if case == SOLVED[grade_id] else SEEDS[turn % 3:][:1]:
                verdict = judged_locally(case, seed=seed)
                assert verdict.points == case.points, (seed, str(case), verdict.messages)
                assert set(case.codes) <= {message.code for message in verdict.messages}, (seed, str(case), verdict.messages)


def test_without_a_seed_nothing_is_drawn():
    assert drawn(LocalAnswer(None), pipeline) == []
    assert len(set(drawn(Seeded(LocalAnswer(None), 5), pipeline))) == 3
