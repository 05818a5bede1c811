"""Which rank is at fault when a run fails: the first to complain is seldom the one."""

import signal
import time

from course.pipeline.errors import PipelineError

PATIENCE = 0.5  # a neighbour's broken connection often arrives before the death or the error that broke it


def cause_of(pool, replies: dict[int, dict], left: set[int], describe) -> PipelineError:
    """The error to raise, as soon as one rank has failed or ended. Waits a little for a better reason than a lost neighbour."""
    replies, left = dict(replies), set(left)
    until = time.monotonic() + PATIENCE
    while True:
        failures = {rank: reply for rank, reply in replies.items() if "error" in reply}
        own = [rank for rank, reply in failures.items() if not reply["of_neighbour"]]
        dead = [rank for rank, process in enumerate(pool.processes) if process.exitcode is not None]
        if own or dead or time.monotonic() > until:
            break
        new = pool.replies(left, timeout=0.02)
        replies |= new
        left -= set(new)
    rank = (own or dead or sorted(failures))[0]
    if rank in failures:
        cause, details = failures[rank]["error"], f"--- on rank {rank} ---\n{failures[rank]['details']}"
    else:
        cause, details = _end_of(pool.processes[rank].exitcode), ""
        if words := pool.words(rank):
            details = f"--- last words of rank {rank} ---\n{words}"
    place = _place(pool, rank, describe)
    return PipelineError(f"rank {rank} failed {f'at {place}' if place else 'outside its operations'}: {cause}",
                         rank, place, cause, details)


def stuck(pool, left: set[int], describe, why: str) -> PipelineError:
    """The error of a run in which nobody failed and nobody goes on."""
    ranks = sorted(left)
    states = [f"rank {rank} {'waits' if pool.progress[rank].waiting else 'is'} at "
              f"{_place(pool, rank, describe) or 'none of its operations'}"
              + (f" for rank {pool.progress[rank].peer}" if pool.progress[rank].waiting else "") for rank in ranks]
    return PipelineError(f"{why}: {'; '.join(states)}", ranks[0], _place(pool, ranks[0], describe), why)


def _place(pool, rank, describe):
    position = pool.progress[rank].position
    return describe(rank, position) if position >= 0 else None


def _end_of(code):
    if code >= 0:
        return f"the process exited with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"the process was ended by {name}" + (
        " (out of memory, or killed from outside)" if name == "SIGKILL" else "")
