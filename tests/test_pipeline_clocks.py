"""Which clock says what: the virtual one is the simulation, the paced one is a reading, and both say so when disturbed."""

import sys
from fractions import Fraction
from random import Random
from statistics import median

import cloudpickle
import pytest

from course import Costs, simulate
from course.pipeline import Sizes, close, pool, run
from course.schedules import SCHEDULES, gpipe, one_f_one_b

cloudpickle.register_pickle_by_value(sys.modules[__name__])

TINY = Sizes(hidden=4, heads=1, sequence=4, micro_batch_size=1)
SEED = 11


def uneven(schedule, seed):
    """A time of its own for every stage and boundary, and for two operations."""
    draw, stages = Random(seed), schedule.stages
    last = next(operation for rank in schedule.ranks for operation in reversed(rank) if operation.stage == stages - 1)

    def some(count):
        return [Fraction(draw.randint(1, 12), draw.randint(1, 7)) for _ in range(count)]

    return Costs(some(stages), some(stages), latency=some(stages - 1), message=some(stages - 1),
                 single={"0F0": Fraction(22, 7), str(last): Fraction(1, 13)})


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    pool.pool_of(4)
    yield
    close()


@pytest.mark.parametrize(("p", "m"), [(1, 3), (2, 2), (2, 4), (3, 6), (4, 4)])
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_virtual_timeline_is_exactly_the_simulated_one(name, p, m):
    schedule = SCHEDULES[name].make(p, max(m, 2 * p) if name == "dualpipe_v" else m, 2 if SCHEDULES[name].chunked else 1)
    costs = uneven(schedule, seed=SEED + p * m)
    result = run(schedule, clock="virtual", costs=costs, steps=1, sizes=TINY)
    assert result.measured == result.predicted == simulate(schedule, costs), f"seed {SEED}"
    assert result.bubble_measured == result.predicted.bubble_fraction
    assert isinstance(result.bubble_measured, Fraction)
    assert result.largest_error == 0


@pytest.mark.parametrize("costs", [Costs(forward=0.5, backward=0.25), Costs(forward=0.1, backward=0.3, message=0.7)])
def test_the_virtual_clock_takes_a_float_for_what_was_written(costs):
    result = run(one_f_one_b(3, 4), clock="virtual", costs=costs, steps=1, sizes=TINY)
    exact = Costs(*(Fraction(str(time)) for time in (costs.forward, costs.backward)), message=Fraction(str(costs.message)))
    assert result.measured == simulate(one_f_one_b(3, 4), exact)
    assert result.largest_error < 1e-12


def test_the_paced_clock_emulates_slow_stages_slow_links_and_slow_operations():
    costs = Costs([1, 2], 1, latency=1, message=2, single={"0F1": 3})
    result = run(gpipe(2, 2), costs=costs, slot_seconds=0.1, steps=1)
    assert result.overruns or result.largest_error < 0.5, "a sanity bound, no measurement"
    assert result.step_time_predicted == pytest.approx(0.1 * simulate(gpipe(2, 2), costs).makespan)


def test_three_slots_slept_inside_an_operation_move_the_measured_step_by_three():
    def stumble(operation):
        if str(operation) == "1F1":
            import time

            time.sleep(0.3)

    quiet, result = (run(gpipe(2, 4), slot_seconds=0.1, steps=1, during=during) for during in (None, stumble))
    assert quiet.overruns or quiet.largest_error < 0.5
    assert result.overruns or 2.5 < result.measured.makespan - result.predicted.makespan < 4
    assert result.measured.makespan > result.predicted.makespan + 2.5
    assert result.largest_error > 2.5
    assert "during= took 0.3" in result.notes[-1]
    assert result.max_gradient_difference == 0.0


def test_a_computation_that_takes_longer_than_its_device_is_counted_and_shows():
    def slows(worker):
        import time

        from course.pipeline.model import Block

        forward = Block.forward

        def slow(self, x):
            time.sleep(0.15 if worker.rank else 0)
            return forward(self, x)

        Block.forward = slow

    pool.pool_of(2).run(slows)
    result = run(gpipe(2, 1), slot_seconds=0.05, steps=1, sizes=Sizes(layers=2))
    close()
    assert result.overruns >= 1 and "took longer" in result.notes[0]
    assert result.measured.makespan > result.predicted.makespan + 1.5
    assert result.bubble_measured > result.bubble_predicted, "an overrun is idle, no work"


def test_a_dropped_wait_shows_as_an_error():
    def installs_a_clock_that_drops_a_wait(worker):
        from course.pipeline import clocks

        class Hurried(clocks.Paced):
            def end(self, operation):
                self.hurry = str(operation) == "0F1"
                return super().end(operation)

            def sleep_until(self, moment):
                if not self.__dict__.pop("hurry", False):
                    super().sleep_until(moment)

        clocks.CLOCKS["paced"] = Hurried

    pool.pool_of(2).run(installs_a_clock_that_drops_a_wait)
    result = run(gpipe(2, 2), slot_seconds=0.3, steps=1)
    close()
    lengths = {str(span.operation): span.end - span.start for span in result.measured.spans}
    assert lengths.pop("0F1") < 0.9 * median(lengths.values()), "the span is a reading of the clock, not the plan"
    assert result.largest_error > 0.1
