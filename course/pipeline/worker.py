"""A worker process: one rank, which does the jobs that come through its pipe until its parent ends."""

import contextlib
import importlib
import io
import os
import pickle
import shutil
import signal
import socket
import sys
import threading
import traceback
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import connection, parent_process

from course.pipeline.progress import Progress

PATIENCE = timedelta(hours=1)  # who waits too long is ended by the parent, which knows more


@dataclass
class Worker:
    """What a job is given: its rank, its row of the shared progress, and a place for what the next job needs."""

    rank: int
    progress: Progress
    preloaded: bool
    device: str = "cpu"
    kept: object = None


def main(rank: int, pipe, noise, array):
    """The worker's life: wait for the order to begin, join the group, then a job at a time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends us
    _into(noise)
    folders = []
    threading.Thread(target=_end_with_parent, args=(folders,), daemon=True).start()
    try:
        ranks, folder = pipe.recv()
    except (EOFError, OSError):
        os._exit(0)
    folders.append(folder)
    worker = Worker(rank, Progress(array, rank), "torch.fx.experimental.symbolic_shapes" in sys.modules)
    try:
        _join(rank, ranks, folder)
        pipe.send_bytes(pickle.dumps({"result": None}))
    except Exception as error:
        pipe.send_bytes(pickle.dumps(_failure(error)))
    while True:
        try:
            content = pipe.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)
        pipe.send_bytes(do(worker, content))


def _join(rank, ranks, folder):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")] if sys.platform != "win32" else []
    if loopback:
        os.environ["GLOO_SOCKET_IFNAME"] = loopback[0]
    store = dist.FileStore(os.path.join(folder, "rendezvous"), ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=PATIENCE)


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
    try:
        return pickle.dumps(reply | {"output": output.getvalue()})
    except Exception as error:
        return pickle.dumps(_failure(error) | {"output": output.getvalue()})


def _failure(error):
    message = "".join(traceback.format_exception_only(error)).strip()
    return {"error": message, "details": traceback.format_exc(),
            "of_neighbour": type(error).__name__ == "NeighbourLost"}


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


def _end_with_parent(folders):
    connection.wait([parent_process().sentinel])
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
