import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from course import Costs, Operation, Schedule, schedules, simulate, violations
from course.recognition import recognize
from course.schedules import SCHEDULES
from tests.orders import megatron_with_interleaving, megatron_without_interleaving, pytorch_looped_bfs, pytorch_v

REFERENCE = json.loads((Path(__file__).parent / "reference" / "schedules.json").read_text())
SIZES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (1, 2, 3, 4, 8, 16)]


@pytest.mark.parametrize("row", [row for row in REFERENCE["rows"] if row[0] in SCHEDULES],
                         ids=lambda row: "-".join(map(str, row[:4])))
def test_reference_values(row):
    values = dict(zip(REFERENCE["columns"], row, strict=True))
    schedule = SCHEDULES[values["schedule"]].make(values["p"], values["m"], values["chunks"])
    equal, double = simulate(schedule, Costs(1, 1)), simulate(schedule, Costs(1, 2))
    assert (equal.makespan, double.makespan) == (values["T_F_eq_B"], values["T_B_eq_2F"])
    assert equal.bubble_fraction == Fraction(values["bubble_F_eq_B"])
    assert double.bubble_fraction == Fraction(values["bubble_B_eq_2F"])
    assert list(equal.peak_activations) == list(double.peak_activations) == values["peak_chunks_per_rank"]


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_1f1b_is_megatrons_order(p, m):
    assert schedules.one_f_one_b(stages=p, micro_batches=m).ranks == megatron_without_interleaving(p, m)


@pytest.mark.parametrize("v", [2, 3, 4])
@pytest.mark.parametrize(("p", "m"), [(p, m) for p, m in SIZES if m % p == 0])
def test_interleaved_is_megatrons_order(p, m, v):
    assert schedules.interleaved_1f1b(ranks=p, micro_batches=m, chunks=v).ranks == megatron_with_interleaving(p, m, v)


@pytest.mark.parametrize("v", [1, 2, 3])
@pytest.mark.parametrize(("p", "m"), SIZES)
def test_looped_bfs_is_pytorchs_order(p, m, v):
    assert schedules.looped_bfs(ranks=p, micro_batches=m, chunks=v).ranks == pytorch_looped_bfs(p, m, v)
    assert simulate(schedules.looped_bfs(p, m, v)).peak_activations == (m * v,) * p


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_the_v_schedules_are_pytorchs_orders(p, m):
    assert schedules.zb_v(p, m).ranks == pytorch_v("ScheduleZBVZeroBubble", p, m)
    if m >= 2 * p:
        assert schedules.dualpipe_v(p, m).ranks == pytorch_v("ScheduleDualPipeV", p, m)


@pytest.mark.parametrize(("p", "m"), [(p, m) for p, m in SIZES if m >= p])
@pytest.mark.parametrize("costs", [(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 4, 2), (1, Fraction(1, 2), Fraction(1, 2))])
def test_zb_h1_takes_what_its_paper_says_and_holds_what_1f1b_holds_at_most(p, m, costs):
    forward, input_grad, weight_grad = costs
    timeline = simulate(schedules.zb_h1(p, m), Costs(forward, input_grad=input_grad, weight_grad=weight_grad))
    assert timeline.makespan == m * sum(costs) + (p - 1) * (forward + input_grad - weight_grad)
    assert timeline.peak_activations == (p,) * p
    plain = simulate(schedules.one_f_one_b(p, m), Costs(forward, input_grad + weight_grad))
    assert max(plain.peak_activations) == p and timeline.makespan <= plain.makespan


@pytest.mark.parametrize(("p", "m"), [(p, m) for p, m in SIZES if m >= 2 * p - 1])
@pytest.mark.parametrize("costs", [(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 4, 2), (1, Fraction(1, 2), Fraction(1, 2))])
def test_zb_h2_idles_as_little_as_its_paper_says_and_holds_about_twice_as_much(p, m, costs):
    forward, input_grad, weight_grad = costs
    timeline = simulate(schedules.zb_h2(p, m), Costs(forward, input_grad=input_grad, weight_grad=weight_grad))
    inside = [ends[-1] - starts[0] - m * sum(costs) for starts, ends in zip(timeline.starts, timeline.ends, strict=True)]
    assert max(inside) == (p - 1) * (forward + input_grad - 2 * weight_grad)
    assert timeline.peak_activations == (2 * p - 1,) * p


def test_zb_h2_as_drawn():
    assert str(simulate(schedules.zb_h2(3, 5), Costs(1, input_grad=1, weight_grad=1))) == (
        "F0 F1 F2 F3 F4 I0 W0 I1 W1 I2 W2 I3 W3 I4 W4 .  .\n"
        ".  F0 F1 F2 I0 F3 I1 F4 I2 W0 I3 W1 I4 W2 W3 W4 .\n"
        ".  .  F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 W1 W2 W3 W4")


@pytest.mark.parametrize("p", [1, 2, 3, 4, 8])
def test_zb_v_is_never_idle_between_its_first_operation_and_its_last(p):
    timeline = simulate(schedules.zb_v(p, 4 * p), Costs(1, input_grad=1, weight_grad=1))
    for starts, ends in zip(timeline.starts, timeline.ends, strict=True):
        assert ends[-1] - starts[0] == 6 * 4 * p
    assert timeline.peak_activations == (2 * p,) * p


@pytest.mark.parametrize(("p", "m"), [(p, m) for p, m in SIZES if m % p == 0])
def test_one_chunk_interleaved_is_1f1b(p, m):
    assert schedules.interleaved_1f1b(p, m, 1).ranks == schedules.one_f_one_b(p, m).ranks


def test_gpipe_as_drawn():
    assert str(simulate(schedules.gpipe(4, 4))) == (
        "F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3\n"
        ".  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .\n"
        ".  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .\n"
        ".  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  .")


def test_1f1b_as_drawn():
    assert str(simulate(schedules.one_f_one_b(4, 4))) == (
        "F0 F1 F2 F3 .  .  .  B0 .  B1 .  B2 .  B3\n"
        ".  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3 .\n"
        ".  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .  .\n"
        ".  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .  .")


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_is_legal_complete_and_recognized(name):
    entry = SCHEDULES[name]
    for p, m in SIZES:
        for v in (entry.chunks,) if entry.chunks else (1, 2):
            try:
                schedule = entry.make(p, m, v)
            except ValueError:
                assert (name == "interleaved_1f1b" and m % p) or (name == "dualpipe_v" and m < 2 * p)
                continue
            assert violations(schedule) == []
            assert schedule.stages == p * v and schedule.micro_batches == m
            assert recognize(schedule) is not None
            assert violations(simulate(schedule)) == []
    assert entry.source and entry.sizes and entry.title


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (4, 8, 1), (2, 4, 3)])
def test_recognition_survives_other_micro_batch_numbers(p, m, v):
    known = schedules.interleaved_1f1b(p, m, v)
    other = Schedule(tuple(tuple(Operation(op.stage, op.kind, (op.micro_batch * 3 + 1) % m if m % 3 else m - 1 - op.micro_batch)
                                 for op in rank) for rank in known.ranks), known.stage_to_rank, m)
    assert recognize(other) == recognize(known) == ("interleaved_1f1b" if v > 1 else "1f1b")


def orders_of_gpipe(stages, backwards):
    kinds = [("F", i) for i in range(3)] + [("B", i) for i in backwards]
    return Schedule.of([[Operation(stage, *kind) for kind in kinds] for stage in range(stages)])


@pytest.mark.parametrize("backwards", [*itertools.permutations(range(3))])
def test_gpipe_is_recognized_whatever_the_order_of_its_backwards(backwards):
    schedule = orders_of_gpipe(3, backwards)
    assert violations(schedule) == [] and recognize(schedule) == "gpipe"


def test_an_order_of_nobody_is_not_recognized():
    mixed = Schedule.from_csv("0F0,0F1,0B0,0B1,0F2,0B2\n1F0,1F1,1B0,1B1,1F2,1B2\n2F0,2F1,2B0,2B1,2F2,2B2")
    assert violations(mixed) == [] and recognize(mixed) is None
    split = Schedule.from_csv("0F0,0F1,0I0,0I1,0W0,0W1")
    assert violations(split) == [] and recognize(split) is None
    assert recognize(Schedule((), (), 0)) is None


@pytest.mark.parametrize(("make", "words"), [
    (lambda: schedules.interleaved_1f1b(4, 6, 2), ["micro_batches = 6", "multiple of ranks = 4", "4 or 8"]),
    (lambda: schedules.interleaved_1f1b(4, 3, 2), ["micro_batches = 3", "4 would do"]),
    (lambda: schedules.gpipe(0, 4), ["stages = 0", "at least 1"]),
    (lambda: schedules.gpipe(4, -1), ["micro_batches = -1", "at least 1"]),
    (lambda: schedules.one_f_one_b(4, 2.5), ["micro_batches = 2.5", "whole number"]),
    (lambda: schedules.one_f_one_b("4", 2), ["stages = '4'", "whole number"]),
    (lambda: schedules.one_f_one_b(True, 2), ["stages = True", "whole number"]),
    (lambda: SCHEDULES["gpipe"].make(4, 4, 2), ["chunks = 2", "one stage a rank"]),
    (lambda: schedules.zb_v(4, 4, 1), ["chunks = 1", "two stages a rank", "chunks = 2"]),
    (lambda: SCHEDULES["dualpipe_v"].make(4, 8, 3), ["chunks = 3", "chunks = 2"]),
    (lambda: schedules.dualpipe_v(4, 7), ["micro_batches = 7", "two a rank", "8"]),
    (lambda: schedules.zb_h1(4, 0), ["micro_batches = 0", "at least 1"]),
])
def test_bad_sizes_name_value_rule_and_way_out(make, words):
    with pytest.raises(ValueError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("name", SCHEDULES)
def test_csv_round_trip(name):
    schedule = SCHEDULES[name].make(4, 8, 2 if SCHEDULES[name].chunked else 1)
    again = Schedule.from_csv(schedule.to_csv())
    assert (again.ranks, again.stage_to_rank, again.micro_batches) == (schedule.ranks, schedule.stage_to_rank, 8)


def test_csv_of_pytorch_has_empty_cells_for_bubbles():
    schedule = Schedule.from_csv("0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\n")
    assert [str(op) for op in schedule.ranks[1]] == ["1F0", "1B0", "1F1", "1B1"]
    wider = Schedule.from_csv("0F0,0B0\n", stages=2, micro_batches=3)
    assert (wider.stages, wider.micro_batches) == (2, 3)


def test_csv_errors_name_row_and_column():
    with pytest.raises(ValueError, match="row 1, column 2: '1X1' is not an operation"):
        Schedule.from_csv("0F0,0B0\n1F0,1B0,1X1\n")


@pytest.mark.parametrize("text", ["\ufeff0F0,0B0\r\n1F0,1B0\r\n", "0F0,0B0\n1F0,1B0\n\n\n"])
def test_csv_from_elsewhere(text):
    assert [len(rank) for rank in Schedule.from_csv(text).ranks] == [2, 2]


@pytest.mark.parametrize("text", ["999999999F0,0B0", '0F0,"' + "x" * 200_000 + '"'])
def test_csv_that_is_none_is_a_value_error(text):
    with pytest.raises(ValueError):
        Schedule.from_csv(text)
