"""Whatever goes wrong on a rank ends as one error that says where, leaves no worker, and lets the next run work."""

import os
import signal
import sys
import tempfile
import threading
import time

import cloudpickle
import psutil
import pytest

from course.pipeline import PipelineError, close, launch, pool, run
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
    assert error.message.startswith(f"rank 2 failed at 2F1: {cause}")
    assert words in error.details
    assert workers() == []
    assert run(gpipe(4, 3), clock="virtual").max_gradient_difference == 0.0


def test_a_job_that_fails_before_its_first_operation_is_named_so():
    with pytest.raises(PipelineError, match="rank 0 failed outside its operations: ZeroDivisionError"):
        pool.pool_of(2).run(lambda worker: 1 / worker.rank)


def test_a_result_that_cannot_travel_is_an_error_of_its_rank():
    with pytest.raises(PipelineError, match="rank 0 failed outside its operations: what the job returns cannot travel back: "):
        pool.pool_of(1).run(lambda worker: (lambda: None))
    assert workers() == []


def test_a_function_that_cannot_travel_is_refused_before_any_process_is_touched(monkeypatch):
    lock = threading.Lock()
    monkeypatch.setattr(pool.Pool, "__init__", None)
    with pytest.raises(ValueError, match=r"cannot be sent to the processes .*lock.* open files, locks") as caught:
        run(gpipe(2, 2), during=lambda operation: lock)
    assert "\n" not in str(caught.value)


def swaps_two_receives(kind):
    """Rank 1 gives micro-batch 1 what is for 2, and the other way round, forward or backward."""
    def swap(worker):
        from course.pipeline.messages import Messages
        from course.schedule import Operation

        need, other = Messages._need, {1: 2, 2: 1}

        def swapped(self, operation):
            found = need(self, operation)
            if found and operation.kind == kind:
                return Operation(found.stage, found.kind, other.get(found.micro_batch, found.micro_batch))
            return found

        if worker.rank == 1:
            Messages._need = swapped

    return swap


def sends_too_little(worker):
    from course.pipeline.messages import Messages

    send = Messages.send
    Messages.send = lambda self, operation, *rest: None if str(operation) == "1F1" else send(self, operation, *rest)


def scales_the_loss_wrongly(worker):
    from course.pipeline import executor

    loss_of = executor.loss_of
    executor.loss_of = lambda logits, targets, micro_batches: loss_of(logits, targets, 1)


@pytest.mark.parametrize("broken", [swaps_two_receives("F"), scales_the_loss_wrongly])
def test_a_broken_executor_does_not_pass_for_one_process(broken):
    pool.pool_of(3).run(broken)
    result = run(one_f_one_b(3, 4), clock="virtual")
    assert result.max_gradient_difference > 1e-3
    assert result.losses != result.reference_losses


def test_two_gradients_that_are_swapped_show_in_gradients_and_not_in_the_loss():
    pool.pool_of(3).run(swaps_two_receives("B"))
    result = run(one_f_one_b(3, 4), clock="virtual", steps=1)
    assert result.losses == result.reference_losses
    assert result.max_gradient_difference > 1e-4


def test_a_message_that_nobody_sends_ends_as_an_error():
    pool.pool_of(3).run(sends_too_little)
    with pytest.raises(PipelineError) as caught:
        run(one_f_one_b(3, 2), clock="virtual")
    assert "every rank waits for another" in caught.value.message
    assert "rank 2 at 2F1 has no message from 1F1 on rank 1, which has gone on" in caught.value.message
    assert "rank 0 waits at 0B1 for rank 1" in caught.value.message
    assert (caught.value.rank, caught.value.operation) == (2, "2F1")
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


def test_a_fork_server_that_was_killed_is_replaced():
    from multiprocessing import forkserver

    first = run(gpipe(2, 2), clock="virtual").pids
    if forkserver._forkserver._forkserver_pid is None:
        pytest.skip("no fork server on this system")
    server = psutil.Process(forkserver._forkserver._forkserver_pid)
    server.kill()
    while server.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    pool._pool.processes[0].join()
    second = run(gpipe(2, 2), clock="virtual")
    assert second.max_gradient_difference == 0.0
    assert not set(first) & set(second.pids)
    assert not [pid for pid in first if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(("error", "words"), [
    (EOFError("unexpected EOF"), ["no more processes or memory", "take fewer ranks"]),
    (OSError(12, "Cannot allocate memory"), ["Cannot allocate memory", "take fewer ranks"]),
    (MemoryError(), ["MemoryError", "take fewer ranks"]),
    (OSError(28, "No space left on device", "/x/pymp-1"), ["No space left on device", "/x/pymp-1", "set TMPDIR"]),
    (OSError("AF_UNIX path too long"), [tempfile.gettempdir(), "too long a path", "set TMPDIR to a short one"]),
    (FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/var/tmp']"), ["['/tmp', '/var/tmp']", "set TMPDIR"]),
])
def test_processes_that_cannot_be_started_are_one_error_with_a_way_out(error, words, monkeypatch):
    start, begun = launch.start, []

    def starts(target, arguments, name):
        begun.append(name)
        if len(begun) == 2:
            raise error
        return start(target, arguments, name)

    with monkeypatch.context() as patched:
        patched.setattr(launch, "start", starts)
        with pytest.raises(PipelineError, match="the processes could not be started: ") as caught:
            run(gpipe(2, 2))
    assert all(word in caught.value.message for word in words), caught.value.message
    assert "\n" not in caught.value.message
    assert workers() == []
    assert run(gpipe(2, 2), clock="virtual").max_gradient_difference == 0.0


def test_without_memory_nothing_is_started(monkeypatch):
    close()
    with monkeypatch.context() as patched:
        patched.setattr(pool, "free_memory", lambda: 20 << 20)
        patched.setattr(launch, "start", None)
        with pytest.raises(PipelineError, match=r"too little memory: 4 processes need about \d+ MiB, 20 MiB are free; close"):
            run(gpipe(4, 4))
    assert run(gpipe(2, 2), clock="virtual").max_gradient_difference == 0.0
