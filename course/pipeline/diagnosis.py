"""Which rank is at fault when a run fails: the first to complain is seldom the one."""

import signal
import tempfile
import time

from course.pipeline.errors import PipelineError

PATIENCE = 0.5  # a neighbour's broken connection often arrives before the death or the error that broke it
ROOM = "close other notebooks' kernels (menu Kernel, Shut Down All Kernels) and other programs, or take fewer ranks"
NO_ROOM = ("MemoryError", "can't allocate memory", "not enough memory", "Cannot allocate memory", "can't start new thread")


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
    where = f"at {place}" if place else "outside its operations"
    return PipelineError(f"rank {rank} failed {where}: {cause}{_way_out(cause)}", rank, place, cause, details)


def stuck(pool, left: set[int], describe, why: str) -> PipelineError:
    """The error of a run in which nobody failed and nobody goes on: names the rank whose message was not sent, if one was not."""
    ranks = sorted(left)
    states = [f"rank {rank} {'waits' if pool.progress[rank].waiting else 'is'} at "
              f"{_place(pool, rank, describe) or 'none of its operations'}"
              + (f" for rank {pool.progress[rank].peer}" if pool.progress[rank].waiting else "") for rank in ranks]
    rank, lost = next(((rank, words) for rank in ranks if (words := _lost(pool, rank, left, describe))), (ranks[0], ""))
    return PipelineError(f"{why}: {lost}{'; '.join(states)}", rank, _place(pool, rank, describe), why)


def _lost(pool, rank, left, describe):
    """What to say of a rank that waits for a message whose sender has gone on."""
    needed = getattr(describe, "needs", lambda rank, position: None)(rank, pool.progress[rank].position)
    if not (pool.progress[rank].waiting and needed and needed[0] == pool.progress[rank].peer):
        return ""
    sender, position = needed
    if sender in left and pool.progress[sender].position <= position:
        return ""
    return (f"rank {rank} at {_place(pool, rank, describe)} has no message from {describe(sender, position)} on rank {sender}, "
            "which has gone on; ")


def could_not_start(error: Exception) -> PipelineError:
    """The error of a pool whose processes could not be started."""
    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, EOFError):
        cause = "their fork server has ended: no more processes or memory are allowed, or torch cannot be imported"
    elif isinstance(error, FileNotFoundError) and "temporary directory" in str(error):
        cause = f"no folder for temporary files can be written to; set TMPDIR to one that can ({error.strerror or error})"
    elif "AF_UNIX path too long" in str(error):
        cause = f"the folder for temporary files has too long a path, {tempfile.gettempdir()}; set TMPDIR to a short one (/tmp)"
    elif getattr(error, "filename", None):
        cause += "; set TMPDIR to a folder that can be written to and has room"
    return PipelineError(f"the processes could not be started: {cause}{_way_out(cause)}", None, None, cause)


def no_room(ranks: int, needed: int, free: int) -> PipelineError:
    """The error of a pool for which there is too little memory, before any of it is taken."""
    cause = f"too little memory: {ranks} processes need about {needed >> 20} MiB, {free >> 20} MiB are free"
    return PipelineError(f"the processes are not started, {cause}; {ROOM}", None, None, cause)


def _place(pool, rank, describe):
    position = pool.progress[rank].position
    return describe(rank, position) if position >= 0 else None


def _end_of(code):
    if code == 255:  # what multiprocessing says when it does not know
        return "the process exited with code 255, or the fork server that started it was ended"
    if code >= 0:
        return f"the process exited with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"the process was ended by {name}" + (
        " (out of memory, or killed from outside)" if name == "SIGKILL" else "")


def _way_out(cause):
    if "SIGKILL" in cause or "fork server" in cause:
        return f"; if memory ran out, {ROOM}"
    return f"; too little memory: {ROOM}" if any(sign in cause for sign in NO_ROOM) else ""
