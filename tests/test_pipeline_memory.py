"""The bytes of activations that a rank holds: at every time those of the micro-batches that are held, each as large as alone."""

import pytest

from course import Costs, formulas, simulate
from course.pipeline import Sizes, close, pool, run
from course.schedules import SCHEDULES, gpipe, interleaved_1f1b, one_f_one_b
from tests.test_pipeline_run import drawn, split, v_shaped

SMALL = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2)


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    pool.pool_of(4)
    yield
    close()


def alone(stages):
    """The bytes of one micro-batch of each stage, with nothing else held."""
    return run(gpipe(stages, 1), clock="virtual", steps=1, sizes=SMALL).peak_activation_bytes


SIZES = [(1, 3), (2, 2), (2, 4), (3, 3), (4, 4), (4, 8)]


@pytest.mark.parametrize(("p", "m"), SIZES)
@pytest.mark.parametrize("name", SCHEDULES)
def test_bytes_over_time_are_those_of_what_is_held(name, p, m):
    schedule = SCHEDULES[name].make(p, max(m, 2 * p) if name == "dualpipe_v" else m, 2 if SCHEDULES[name].chunked else 1)
    result = run(schedule, clock="virtual", costs=Costs(1, 2, latency=1), steps=1, sizes=SMALL)
    if schedule.stages <= 4:
        assert result.bytes_of_one == alone(schedule.stages)
    assert result.activation_steps == result.predicted.holding(result.bytes_of_one)
    assert result.peak_activation_bytes == tuple(max(level for _, level in steps) for steps in result.activation_steps)
    assert result.activation_bytes_left == (0,) * p
    assert all(steps[-1][1] == 0 for steps in result.activation_steps)


def test_a_chunk_is_as_large_as_alone_on_eight_workers():
    result = run(interleaved_1f1b(4, 4, 2), clock="virtual", steps=1, sizes=SMALL)
    assert result.bytes_of_one == alone(8)
    assert len(set(result.bytes_of_one)) > 1, "the first and the last stage are not like the others"


@pytest.mark.parametrize("make", [drawn, split, v_shaped])
def test_so_it_is_for_schedules_that_nobody_named(make):
    result = run(make(), clock="virtual", steps=1, sizes=SMALL)
    assert result.bytes_of_one == alone(result.schedule.stages)
    assert result.activation_steps == result.predicted.holding(result.bytes_of_one)


def test_counts_are_those_of_the_formulas():
    for p, m in SIZES:
        for make in (gpipe, one_f_one_b):
            schedule = make(p, m)
            counts = run(schedule, clock="virtual", steps=1, sizes=SMALL).peak_activations_measured
            assert counts == tuple(formulas.peak_in_flight(schedule.name, p, m, stage) for stage in range(p))
    counts = run(interleaved_1f1b(4, 8, 2), clock="virtual", steps=1, sizes=SMALL).peak_activations_measured
    assert counts == (11, 9, 7, 5)


def test_with_the_paced_clock_times_are_readings_and_levels_the_same():
    result = run(one_f_one_b(3, 4), steps=1, slot_seconds=0.05, sizes=SMALL)
    expected = simulate(result.schedule).holding(result.bytes_of_one)
    for rank, steps in enumerate(result.activation_steps):
        assert [level for _, level in steps] == [level for _, level in expected[rank]]
        assert all(time in {*result.measured.starts[rank], *result.measured.ends[rank]} for time, _ in steps)


def test_a_micro_batch_twice_as_large_takes_twice_the_bytes():
    double = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=4)
    one, two = (run(gpipe(2, 2), clock="virtual", steps=1, sizes=sizes).bytes_of_one for sizes in (SMALL, double))
    assert two == tuple(2 * size for size in one)
