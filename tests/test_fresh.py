"""Questions drawn from a submission's seed: a table of what everybody is asked is not enough, and nothing else changes."""

import pytest

from course.answers import LocalAnswer, Raised
from course.checks.bubble_fraction import POINTS
from course.checks.bubble_uses import ONE, SEVERAL, exact
from course.checks.fresh import Seeded, drawn, pipeline
from course.checks.megatron_flags import INTERLEAVED, ONE_CHUNK, REFUSED
from course.exercises import EXERCISES, judge
from course.formulas import bubble_fraction, chunks_of_flag, micro_batches_needed
from course.schedules import one_f_one_b
from tests import bank_2_1f1b_phases, bank_3_bubble_fraction, bank_4_virtual_stages, bank_5_tp_pp_dp_design
from tests.bank import assert_verdict, judged_locally
from tests.bank_2_orders import ONE_SIZE

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

    def table(self, without=0):
        """A function that knows these replies, but for some of the last, and no other: a KeyError."""
        known = {repr(arguments): reply for arguments, reply in self.said[:len(self.said) - without]}

        def look_up(*arguments):
            if isinstance(found := known[repr(arguments)], Raised):
                raise ValueError(found.text)
            return found

        return look_up


def noted(case, seed=None):
    """The answers of a case, once they were asked."""
    namespace = {}
    exec(case.source, namespace)
    answers = [Noted(namespace[name]) for name in EXERCISES[case.grade_id].answers]
    assert judge(case.grade_id, *answers, seed=seed).points == case.points
    return answers


@pytest.mark.parametrize("grade_id", TABLES)
def test_a_table_of_what_everybody_is_asked_is_not_enough(grade_id):
    tables = [LocalAnswer(answer.table() if answer.said else answer.value()) for answer in noted(SOLVED[grade_id])]
    assert judge(grade_id, *tables).points == EXERCISES[grade_id].points
    for seed in SEEDS:
        verdict = judge(grade_id, *tables, seed=seed)
        assert verdict.points == LEFT.get(grade_id, 0), (seed, verdict)
        assert not all(message.good for message in verdict.messages), (seed, verdict.messages)


@pytest.mark.parametrize("grade_id", TABLES)
def test_the_same_seed_asks_the_same(grade_id):
    asked = {seed: [[arguments for arguments, _ in answer.said] for answer in noted(SOLVED[grade_id], seed)]
             for seed in (None, *SEEDS)}
    for seed in SEEDS:
        assert [[arguments for arguments, _ in answer.said] for answer in noted(SOLVED[grade_id], seed)] == asked[seed], seed
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


@pytest.mark.parametrize("grade_id", TABLES)
def test_a_table_earns_nothing_whatever_it_is_a_table_of(grade_id):
    for turn, case in enumerate(case for case in CASES if case.grade_id == grade_id and case.points):
        seed, answers = SEEDS[turn % 3], noted(case)
        values = [LocalAnswer(... if answer.said else answer.value()) for answer in answers]
        wanted = judge(grade_id, *values).points
        for without in (0, 1, 5):
            tables = [LocalAnswer(answer.table(without) if answer.said else answer.value()) for answer in answers]
            verdict = judge(grade_id, *tables, seed=seed)
            assert verdict.points == wanted, (seed, str(case), without, verdict)


@pytest.mark.parametrize(("right", "points"), [
    (lambda p, m: m % 2 == 0, 3.5), (lambda p, m: m % 2, 1.75), (lambda p, m: p == 4, 1.75), (lambda p, m: p % 2 == 0, 3.5),
    (lambda p, m: m == p, 1.75), (lambda p, m: m % p == 0, 3.5), (lambda p, m: m == 2 * p, 1.75), (lambda p, m: m > p, 5.25),
    (lambda p, m: p < 12, 5.25), (lambda p, m: m < 40, 5.25)])
def test_what_is_right_at_some_sizes_only_keeps_its_share(right, points):
    def order(p, m, stage):
        return [*map(str, one_f_one_b(p, m).ranks[stage])] if right(p, m) else []

    for seed in (None, *SEEDS, *range(10, 20)):
        assert judge("ex2-order", LocalAnswer(order), seed=seed).points == points, seed


def test_what_is_right_at_one_size_alone_has_a_share_in_the_notebook_only():
    assert_verdict(ONE_SIZE, judged_locally(ONE_SIZE))
    assert [judged_locally(ONE_SIZE, seed=seed).points for seed in SEEDS] == [0, 0, 0]


def test_refusing_is_paid_where_what_is_taken_is_computed():
    def decode(known, otherwise):
        def decode(layers, p, flag):
            if (layers, p, flag) in known:
                return chunks_of_flag(layers, p, flag)
            return otherwise(layers, p, flag)

        return judge("ex4-flags", LocalAnswer(decode), LocalAnswer(None), seed=5).points

    def refuse(*_):
        raise ValueError

    taken = {*INTERLEAVED, *ONE_CHUNK}
    assert decode(taken, refuse) == decode({*taken, *REFUSED}, lambda *_: 7) == decode(REFUSED, lambda *_: 7) == 0
    assert decode((), lambda layers, p, flag: refuse() if layers % p else 7) == 0.4
    assert decode((), chunks_of_flag) == 2.5


def test_a_slip_that_is_shown_at_the_known_points_only_earns_nothing_and_what_is_wrong_is_said():
    def inverse(p, fraction):
        return max(1, int(exact(p, fraction))) if (p, fraction) in SEVERAL + ONE else 10**6

    assert judge("ex3-inverse", LocalAnswer(inverse)).points == 2
    verdict = judge("ex3-inverse", LocalAnswer(inverse), seed=5)
    assert verdict.points == 0 and "returned 1000000: not right" in verdict.messages[0].text

    def right_elsewhere(p, fraction):
        return inverse(p, fraction) if (p, fraction) in SEVERAL else micro_batches_needed(p, fraction)

    verdict = judge("ex3-inverse", LocalAnswer(right_elsewhere), seed=5)
    assert verdict.points == 0 and not verdict.messages[0].good


def test_without_a_seed_nothing_is_drawn():
    assert drawn(LocalAnswer(None), pipeline) == []
    assert len(set(drawn(Seeded(LocalAnswer(None), 5), pipeline))) == 3
