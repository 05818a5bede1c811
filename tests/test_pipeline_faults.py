"""Whatever goes wrong on a rank ends as one error that says where, leaves no worker, and lets the next run work."""

import os
import signal
import sys
import time

import cloudpickle
import psutil
import pytest

from course.pipeline import PipelineError, close, pool, run
from course.schedules import gpipe, one_f_one_b

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def fresh_workers():
    yield
    close()


def workers():
    """The processes that live under the fork server, or under this process where there is none."""
    from multiprocessing import forkserver

    server = forkserver._forkserver._forkserver_pid
    below = psutil.Process(server).children() if server else psutil.Process().children()
    return [process.pid for process in below if process.status() != psutil.STATUS_ZOMBIE]


def goes_wrong(how, place="2F1"):
    def during(operation):
        if str(operation) == place:
            how()

    return during


def raises():
    raise ValueError("the tensor has the wrong shape")


def leaves():
    sys.exit("no more")


def exits():
    os._exit(3)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def crashes():
    print("last words", file=sys.stderr, flush=True)
    os.abort()


@pytest.mark.parametrize(("how", "cause", "words"), [
    (raises, "ValueError: the tensor has the wrong shape", "in raises"),
    (leaves, "SystemExit: no more", "in leaves"),
    (exits, "the process exited with code 3", ""),
    (is_killed, "the process was ended by SIGKILL (out of memory, or killed from outside)", ""),
    (crashes, "the process was ended by SIGABRT", "last words"),
])
@pytest.mark.skipif(sys.platform == "win32", reason="signals of a Unix system")
def test_a_rank_that_fails_is_named_with_its_operation_and_its_cause(how, cause, words):
    with pytest.raises(PipelineError) as caught:
        run(gpipe(4, 3), during=goes_wrong(how))
    error = caught.value
    assert (error.rank, error.operation, error.cause) == (2, "2F1", cause)
    assert error.message == f"rank 2 failed at 2F1: {cause}"
    assert words in error.details
    assert workers() == []
    assert run(gpipe(4, 3), clock="virtual").max_gradient_difference == 0.0


def test_a_job_that_fails_before_its_first_operation_is_named_so():
    with pytest.raises(PipelineError, match="rank 0 failed outside its operations: ZeroDivisionError"):
        pool.pool_of(2).run(lambda worker: 1 / worker.rank)


def test_a_result_that_cannot_travel_is_an_error_of_its_rank():
    with pytest.raises(PipelineError, match="rank 0 failed outside its operations"):
        pool.pool_of(1).run(lambda worker: (lambda: None))


def swaps_what_it_receives(worker):
    from course.pipeline.messages import Messages
    from course.schedule import Operation

    need = Messages._need

    def other(self, operation):
        found = need(self, operation)
        return found and Operation(found.stage, found.kind, found.micro_batch ^ 1)

    if worker.rank == 1:
        Messages._need = other


def sends_too_little(worker):
    from course.pipeline.messages import Messages

    send = Messages.send
    Messages.send = lambda self, operation, *rest: None if str(operation) == "1F1" else send(self, operation, *rest)


def scales_the_loss_wrongly(worker):
    from course.pipeline import executor

    loss_of = executor.loss_of
    executor.loss_of = lambda logits, targets, micro_batches: loss_of(logits, targets, 1)


@pytest.mark.parametrize("broken", [swaps_what_it_receives, scales_the_loss_wrongly])
def test_a_broken_executor_does_not_pass_for_one_process(broken):
    pool.pool_of(2).run(broken)
    result = run(gpipe(2, 2), clock="virtual")
    assert result.max_gradient_difference > 1e-3
    assert result.losses != result.reference_losses


def test_a_message_that_nobody_sends_ends_as_an_error():
    pool.pool_of(3).run(sends_too_little)
    with pytest.raises(PipelineError) as caught:
        run(one_f_one_b(3, 2), clock="virtual")
    assert "every rank waits for another" in caught.value.message
    assert "rank 2 waits at 2F1 for rank 1" in caught.value.message
    assert (caught.value.rank, caught.value.operation) == (0, "0B1")
    assert workers() == []


def test_a_rank_that_never_ends_meets_the_time_limit():
    with pytest.raises(PipelineError, match="the time limit of the run has passed: rank 1 is at none"):
        pool.pool_of(2).run(lambda worker: worker.rank and time.sleep(1000), timeout=0.5)
    assert workers() == []


def test_an_interrupt_passes_through_and_leaves_no_worker(monkeypatch):
    asked = []

    def replies(self, ranks, timeout):
        asked.append(timeout)
        if len(asked) > 2:
            signal.raise_signal(signal.SIGINT)
        return {}

    warm = pool.pool_of(2)
    with monkeypatch.context() as patched:
        patched.setattr(pool.Pool, "replies", replies)
        with pytest.raises(KeyboardInterrupt):
            run(gpipe(2, 2))
    assert not warm.alive and workers() == []
    assert run(gpipe(2, 2), clock="virtual").max_gradient_difference == 0.0


def test_a_worker_that_died_between_two_runs_is_replaced():
    first = run(gpipe(2, 2), clock="virtual").pids
    psutil.Process(first[1]).kill()
    pool._pool.processes[1].join()
    second = run(gpipe(2, 2), clock="virtual")
    assert second.max_gradient_difference == 0.0
    assert not set(first) & set(second.pids)


def test_the_workers_stay_warm_and_fewer_ranks_use_the_first_of_them():
    large = run(gpipe(3, 2), clock="virtual")
    small = run(gpipe(2, 2), clock="virtual")
    assert small.pids == large.pids[:2]
    assert small.max_gradient_difference == 0.0
