"""A real run computes what one process computes, in the schedule's order, and measures it."""

import json
import math

import pytest

from course import Costs, Operation, Schedule, Timeline, violations
from course.pipeline import Sizes, keepable_slot, run
from course.schedules import SCHEDULES, gpipe, interleaved_1f1b, one_f_one_b

LAST_IN_FIRST_OUT = """
F0 F1 F2 .  .  .  .  B2 B1 B0
.  F0 F1 F2 .  .  B2 B1 B0 .
.  .  F0 F1 F2 B2 B1 B0 .  .
"""


def operations(text):
    return tuple(Operation.parse(token) for token in text.split())


def drawn():
    return Timeline.from_grid(LAST_IN_FIRST_OUT, stages=3, micro_batches=3).schedule


def disagreeing():
    """Stage 0 does its backwards in another order than stage 1."""
    return Schedule((operations("0F0 0F1 0F2 0B1 0B0 0B2"), operations("1F0 1F1 1B0 1B1 1F2 1B2")), (0, 1), 3, "odd")


def split():
    """The backward in two: gradients of inputs first, of weights when there is time."""
    return Schedule((operations("0F0 0F1 0I0 0W0 0I1 0W1"), operations("1F0 1I0 1F1 1I1 1W0 1W1")), (0, 1), 2, "split")


def v_shaped():
    """Stages 1 and 2 are neighbours on one rank, so are 3 and nobody."""
    return Schedule((operations("0F0 3F0 3B0 0B0"), operations("1F0 2F0 2B0 1B0")), (0, 1, 1, 0), 1, "v")


RUNS = {
    **{name: entry.make(2, 4, 2 if entry.chunked else 1) for name, entry in SCHEDULES.items()},
    "one stage": gpipe(1, 3), "one micro-batch": one_f_one_b(3, 1), "fewer micro-batches than stages": one_f_one_b(4, 2),
    "gpipe 4 x 8": gpipe(4, 8), "interleaved 4 x 4 x 2": interleaved_1f1b(4, 4, 2),
    "last in, first out": drawn(), "split backward": split(), "v-shaped": v_shaped(),
}


@pytest.mark.parametrize("name", RUNS)
def test_loss_and_every_gradient_equal_those_of_one_process(name):
    result = run(RUNS[name], clock="virtual", steps=3)
    assert result.max_gradient_difference == 0.0
    assert result.losses == result.reference_losses
    assert len(result.losses) == 3 and result.losses[-1] < result.losses[0]
    assert result.measured.schedule.ranks == RUNS[name].ranks
    assert result.activation_bytes_left == (0,) * len(RUNS[name].ranks)
    assert result.peak_activations_measured == result.peak_activations_predicted


def test_stages_that_add_up_in_different_orders_differ_by_rounding_alone():
    assert run(disagreeing(), clock="virtual", steps=2).max_gradient_difference <= 1e-6


def test_the_model_does_not_depend_on_how_it_is_cut():
    losses = {run(schedule, clock="virtual", steps=2, seed=3).losses
              for schedule in (gpipe(1, 4), one_f_one_b(2, 4), gpipe(4, 4), interleaved_1f1b(2, 4, 2))}
    assert len(losses) == 1


def test_another_seed_is_another_training():
    assert run(gpipe(1, 2), clock="virtual", seed=1).losses != run(gpipe(1, 2), clock="virtual", seed=2).losses


@pytest.mark.parametrize("clock", ["paced", "real"])
@pytest.mark.parametrize("schedule", [gpipe(4, 4), interleaved_1f1b(2, 4, 2)], ids=lambda schedule: schedule.name)
def test_what_is_measured_is_a_legal_timeline_in_the_order_of_the_schedule(clock, schedule):
    result = run(schedule, clock=clock)
    assert violations(result.measured) == []
    assert result.measured.schedule == schedule
    assert result.max_gradient_difference == 0.0
    assert all(start >= 0 for row in result.measured.starts for start in row)
    assert result.step_time_measured == float(result.measured.makespan) * result.slot_seconds


def test_the_paced_bubble_is_near_the_formula():
    result = run(gpipe(4, 4), forward=1, backward=2, slot_seconds=0.1)
    assert result.bubble_predicted == pytest.approx(3 / 7)
    assert result.overruns or abs(result.bubble_measured - 3 / 7) < 0.10, "a sanity bound, no measurement"


def test_bytes_on_the_wire_and_parameters_that_stay():
    sizes = Sizes(hidden=32, heads=2, sequence=16, micro_batch_size=2)
    result = run(gpipe(3, 5), clock="virtual", sizes=sizes)
    message = 32 * 16 * 2 * 4
    assert result.bytes_sent == {(0, 1): 5 * message, (1, 0): 5 * message, (1, 2): 5 * message, (2, 1): 5 * message}
    block = 4 * (12 * 32**2 + 13 * 32)  # attention 4 h^2, network 8 h^2, biases and norms 13 h
    assert result.parameter_bytes == (3 * block + 4 * (256 + 16) * 32, 3 * block, 3 * block + 4 * (64 + 256 * 33))
    assert run(v_shaped(), clock="virtual").bytes_sent[1, 2] == 0


def test_odd_sizes_of_a_boundary_travel_too():
    sizes = Sizes(hidden=3, heads=1, sequence=3, micro_batch_size=1, layers=2)
    assert run(gpipe(2, 2), clock="virtual", sizes=sizes).max_gradient_difference == 0.0


def test_what_a_rank_prints_comes_back():
    def say(operation):
        if str(operation) == "1B0":
            print("hello from", operation)

    result = run(gpipe(2, 1), clock="virtual", during=say)
    assert "hello from 1B0" in result.output[1]
    assert result.output[0] == ""


def test_the_record_is_plain_data():
    result = run(one_f_one_b(2, 2), clock="virtual")
    record = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert {"schedule", "stages", "micro_batches", "chunks", "bubble_predicted", "bubble_measured", "step_time_predicted",
            "step_time_measured", "max_gradient_difference", "peak_activations_predicted", "peak_activation_bytes",
            "losses"} <= set(record)
    assert record["bytes_sent"]["0->1"] == result.bytes_sent[0, 1]
    assert str(result).count("F0 F1") == 2
    assert len(repr(result)) < 600


@pytest.mark.parametrize(("schedule", "options", "words"), [
    (Schedule.from_csv("0F0,0B0\n1B0,1F0"), {}, ["cannot run", "B0 comes before F0", "stage 1"]),
    (Schedule.from_csv("0F0,0B0\n1F0"), {}, ["B0 is missing on stage 1"]),
    (Schedule((), (), 0), {}, ["micro_batches = 0", "at least 1"]),
    (gpipe(17, 1), {}, ["ranks = 17", "at most 16", "fewer"]),
    ("gpipe", {}, ["Schedule", "str", "schedules.gpipe(4, 4)"]),
    (gpipe(2, 2), {"clock": "sundial"}, ["'sundial'", "paced, real, virtual"]),
    (gpipe(2, 2), {"steps": 0}, ["steps = 0"]),
    (gpipe(2, 2), {"seed": "x"}, ["seed = 'x'", "whole number"]),
    (gpipe(2, 2), {"clock": []}, ["clock = []"]),
    *((gpipe(2, 2), {"slot_seconds": value}, [f"slot_seconds = {value!r}", "a number of seconds from 1e-06 to 600"])
      for value in (-1, 0, 1e-12, 1e9, float("inf"), float("nan"), "1", True)),
    *((gpipe(2, 2), {name: "x"}, [f"{name} = 'x'", "is needed"]) for name in ("learning_rate", "during", "build")),
    (gpipe(2, 2), {"learning_rate": float("nan")}, ["learning_rate = nan", "finite"]),
    (gpipe(2, 2), {"sizes": "x"}, ["sizes = 'x'", "Sizes(hidden=64)"]),
    (gpipe(2, 2), {"costs": Costs(single=3)}, ["single = 3", '{"2F1": 4}']),
    (gpipe(2, 2), {"forward": [1, 2, 3]}, ["forward has 3 times for 2 stages"]),
    (gpipe(2, 2), {"forward": [0, 1], "backward": 1}, ["0F0 takes 0 slots", "above 0", "virtual"]),
    (gpipe(2, 2), {"costs": Costs(single={"1B1": 0})}, ["1B1 takes 0 slots"]),
    (gpipe(2, 2), {"costs": Costs(message=[1, 2])}, ["message has 2 times", "boundary"]),
    (gpipe(2, 2), {"forward": 1, "costs": Costs()}, ["twice"]),
    (gpipe(3, 2), {"sizes": Sizes(layers=4)}, ["layers = 4", "multiple of the 3 stages", "6"]),
    (gpipe(3, 2), {"sizes": Sizes(hidden=30, heads=4)}, ["hidden = 30", "heads = 4"]),
])
def test_what_cannot_run_is_refused_before_any_process_is_touched(schedule, options, words, monkeypatch):
    monkeypatch.setattr("course.pipeline.pool.Pool.__init__", None)
    monkeypatch.setattr("course.pipeline.pool._pool", None)
    with pytest.raises(ValueError) as caught:
        run(schedule, **options)
    for word in words:
        assert word in str(caught.value)


def test_without_a_comparison_there_is_no_reference_and_all_else_is_the_same():
    options = {"clock": "virtual", "slot_seconds": 0.001, "steps": 1}
    compared, alone = (run(gpipe(2, 3), compare=compare, **options) for compare in (True, False))
    assert alone.reference_losses == () and math.isnan(alone.max_gradient_difference) and alone.notes == ()
    assert alone.losses == compared.losses == compared.reference_losses and alone.measured == compared.measured
    assert alone.peak_activation_bytes == compared.peak_activation_bytes
    assert json.loads(json.dumps(alone.to_json(), allow_nan=False))["max_gradient_difference"] is None and "loss" in str(alone)


def test_the_slot_that_this_machine_can_keep_is_found_without_a_measurement():
    seconds = keepable_slot(gpipe(2, 2), Costs(10, 20))
    assert 0.008 / 10 <= seconds < 10, "no operation is shorter than the shortest that is kept"
    assert keepable_slot(gpipe(1, 2), Costs(10, 20), Sizes(micro_batch_size=1), dp=2) > 0
    with pytest.raises(ValueError, match="dp x ranks"):
        keepable_slot(gpipe(8, 2), Costs(), dp=3)
