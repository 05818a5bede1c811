"""A worker process: one rank, which does the jobs that come through its pipe until its parent ends."""

import contextlib
import importlib
import io
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing import connection, parent_process

from course.pipeline.progress import Progress

HERE = os.path.dirname(__file__) + os.sep
PATIENCE = timedelta(hours=1)  # who waits too long is ended by the parent, which knows more
INTRODUCTION = b"introduction "  # how a message begins that is no job and no reply: see course.pipeline.rendezvous
LARGEST_REPLY = 1 << 29  # bytes
LONGEST_OUTPUT = 200_000  # characters
LONGEST_CAUSE, LONGEST_DETAILS = 300, 8000  # characters of an error: its first line, and what stands under it


@dataclass
class Worker:
    """What a job is given: its rank, its row of the shared progress, and a place for what the next job needs."""

    rank: int
    progress: Progress
    preloaded: bool
    device: str = "cpu"
    kept: object = None
    groups: dict = field(default_factory=dict)  # of replicas, see course.pipeline.replicas
    introductions: object = None  # torch holds the store, but not this side of it, which later groups ask


def main(rank: int, ranks: int, pipe, noise, numbers):
    """The worker's life: join the group, then a job at a time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends us
    _into(noise)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    worker = Worker(rank, Progress(numbers, rank), "torch.fx.experimental.symbolic_shapes" in sys.modules)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        try:
            worker.introductions = _join(rank, ranks, pipe)
            reply = {"result": None}
        except Exception as error:
            reply = _failure(error)
        pipe.send_bytes(pickle.dumps(reply))
        while True:
            content = pipe.recv_bytes()
            if not content.startswith(INTRODUCTION):
                pipe.send_bytes(do(worker, content))
    os._exit(0)


def _join(rank, ranks, pipe):
    import torch
    import torch.distributed as dist

    from course.pipeline.rendezvous import Introductions

    torch.set_num_threads(1)
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")] if sys.platform != "win32" else []
    if loopback:
        os.environ["GLOO_SOCKET_IFNAME"] = loopback[0]
    store = Introductions(pipe)
    try:
        dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=PATIENCE)
    except RuntimeError as error:
        if trouble := _trouble_with_loopback():
            raise RuntimeError(f"the processes cannot reach each other, {trouble}") from error
        raise
    return store


def _trouble_with_loopback():
    """Why this machine cannot talk to itself; None where it can."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_connection(one.getsockname(), timeout=1):
            return None
    except OSError as error:
        return (f"127.0.0.1 cannot be used ({error.strerror or error}): the loopback interface is down, which "
                "`ip link set lo up` as root mends, or has no port left")


def do(worker: Worker, content: bytes) -> bytes:
    """Do a pickled (job, arguments). Returns the pickled reply: a dict with result, or with error; and output, its stdout."""
    output = io.StringIO()
    worker.progress.reset()
    try:
        with contextlib.redirect_stdout(output):
            job, arguments = pickle.loads(content)
            if isinstance(job, str):
                module, name = job.split(":")
                job = getattr(importlib.import_module(module), name)
            reply = {"result": job(worker, *arguments)}
    except BaseException as error:
        reply = _failure(error)
    said = {"output": _cut(output.getvalue(), LONGEST_OUTPUT)}
    try:
        content = pickle.dumps(reply | said)
    except Exception as error:
        return pickle.dumps(_failure(error, "what the job returns cannot travel back: ") | said)
    if len(content) <= LARGEST_REPLY:
        return content
    cause = f"what the job returns is {len(content):,} bytes, and at most {LARGEST_REPLY:,} can travel back: return less"
    return pickle.dumps({"error": cause, "details": "", "of_neighbour": False} | said)


def _failure(error, before=""):
    """What is told of an error: a line that says it, and the rest, both of a length that can be read."""
    cause = next(line for line in traceback.format_exception_only(error) if not line.startswith(" ")).partition("\n")[0]
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith(HERE):  # how it came to the caller's function is ours
        frames = frames.tb_next
    details = "".join(traceback.format_exception(type(error), error, frames or error.__traceback__))
    return {"error": before + _cut(cause, LONGEST_CAUSE), "details": _cut_above(details, LONGEST_DETAILS),
            "of_neighbour": type(error).__name__ == "NeighbourLost"}


def _cut(words, most):
    return words if len(words) <= most else f"{words[:most]} ... and {len(words) - most:,} characters more"


def _cut_above(words, most):
    return words if len(words) <= most else f"{len(words) - most:,} characters more, and then ...\n{words[-most:]}"


def _into(noise):
    """Send what C code and the interpreter write to the parent's pipe: a notebook cell with stderr loses its points."""
    if sys.platform == "win32":
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        return
    os.set_blocking(noise.fileno(), False)  # when nobody reads, words are lost, not time
    for stream in (1, 2):
        os.dup2(noise.fileno(), stream)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False, errors="replace")
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="replace")


def _end_with_parent():
    parent = parent_process()
    watched = [parent.sentinel]
    # The sentinel is a pipe. A copy of the parent that os.fork() made has it too and can outlive the parent.
    try:
        watched.append(os.pidfd_open(parent.pid))
    except ProcessLookupError:
        os._exit(0)
    except (AttributeError, OSError):
        pass
    connection.wait(watched)
    os._exit(0)
