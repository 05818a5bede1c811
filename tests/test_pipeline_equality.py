"""Every schedule of the table, at every small size, trains as one process does: ten losses, gradients of each parameter."""

import pytest

from course.pipeline import Sizes, close, pool, run
from course.schedules import SCHEDULES

TINY = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=1)
STEPS = 10


def cases():
    """(name, p, m, chunks), as far as the schedule allows the sizes."""
    for name, entry in SCHEDULES.items():
        for p in (4, 3, 2, 1):  # the largest first: its workers serve the others too
            for m in (1, 2, 3, 4, 8):
                for chunks in (entry.chunks,) if entry.chunks else (1, 2):
                    try:
                        entry.make(p, m, chunks)
                    except ValueError:
                        continue
                    yield name, p, m, chunks


CASES = list(cases())


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    pool.pool_of(4)
    yield
    close()


def test_the_cases_are_all_that_are_allowed():
    assert {(name, p, m) for name, p, m, _ in CASES if name != "interleaved_1f1b"} >= {
        (name, p, m) for name in ("gpipe", "1f1b") for p in (1, 2, 3, 4) for m in (1, 2, 3, 4, 8)}
    assert sum(name == "interleaved_1f1b" for name, *_ in CASES) == 2 * (5 + 3 + 1 + 2)


@pytest.mark.parametrize(("name", "p", "m", "chunks"), CASES)
def test_it_trains_as_one_process_does(name, p, m, chunks):
    schedule = SCHEDULES[name].make(p, m, chunks)
    result = run(schedule, clock="virtual", steps=STEPS, sizes=TINY)
    assert len(result.losses) == len(result.reference_losses) == STEPS
    assert result.losses == pytest.approx(result.reference_losses, abs=1e-6)
    assert result.max_gradient_difference <= 1e-6
    assert result.losses[-1] < result.losses[0]
    assert len(result.pids) == p
