"""The caller's side of the workers: start them, give each job to the ranks, see to it that none outlives its use."""

import atexit
import contextlib
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable
from multiprocessing import connection

import cloudpickle

from course.pipeline.diagnosis import cause_of, stuck
from course.pipeline.errors import PipelineError
from course.pipeline.progress import FIELDS, Progress
from course.pipeline.worker import main

METHOD = "forkserver" if sys.platform == "linux" else "spawn"
# the first imports the others, unless the fork server cannot find this package: it does not get the caller's sys.path
PRELOAD = ["course.pipeline.preload", "torch", "torch.distributed", "torch.fx.experimental.symbolic_shapes", "cloudpickle"]
LAST_WORDS = 4000  # characters kept of what a worker wrote beside its jobs


class Pool:
    """Worker processes, one a rank, which stay warm between jobs. A job that fails or is interrupted ends them all."""

    def __init__(self, ranks: int):
        self.ranks = ranks
        self.owner = os.getpid()
        self.processes, self.pipes, self._noise = [], [], []
        self._words = [""] * ranks
        context = multiprocessing.get_context(METHOD)
        array = context.RawArray("q", ranks * FIELDS)
        self.progress = [Progress(array, rank) for rank in range(ranks)]
        folder = None
        try:
            self._start(context, array)
            # only now: until the workers know it, nobody would remove it if this process were killed
            folder = tempfile.mkdtemp(prefix="course-pipeline-")
            for pipe in self.pipes:
                pipe.send((ranks, folder))
            self._collect(range(ranks), lambda rank, position: None, stall=None, deadline=time.monotonic() + 120)
        except BaseException as error:
            self.close()
            if isinstance(error, (EOFError, OSError)):
                cause = f"{type(error).__name__}: {error}"
                raise PipelineError(f"the processes could not be started: {cause}", None, None, cause) from error
            raise
        finally:
            if folder:
                shutil.rmtree(folder, ignore_errors=True)  # all are connected, or none will be

    def _start(self, context, array):
        preload()
        for rank in range(self.ranks):
            ours, theirs = context.Pipe()
            heard, said = context.Pipe(duplex=False)
            self.pipes.append(ours)
            self._noise.append(heard)
            process = context.Process(target=main, args=(rank, theirs, said, array), daemon=True, name=f"rank {rank}")
            with _no_main(), _no_interrupt() if METHOD == "spawn" else contextlib.nullcontext(), theirs, said:
                process.start()
            self.processes.append(process)

    @property
    def alive(self) -> bool:
        """Whether every worker is there, and ours: a forked copy of this process must leave them alone."""
        return self.owner == os.getpid() and len(self.processes) == self.ranks and all(
            process.is_alive() for process in self.processes)

    def run(self, job: Callable | str, *arguments, ranks: int | None = None, stall: float | None = 1.5,
            timeout: float = 120, describe: Callable[[int, int], str | None] = lambda rank, position: None) -> list[dict]:
        """Do `job(worker, *arguments)` on the first `ranks` ranks. Returns a dict a rank: result, output (its stdout).

        A job is a function, which travels by value when it is a notebook's, or `module:name` for one that this process
        must not import. `describe(rank, position)` names an operation. PipelineError when a rank fails, when all that
        are left wait for each other for `stall` seconds, or after `timeout` seconds; KeyboardInterrupt passes through.
        """
        taking_part = range(self.ranks if ranks is None else ranks)
        content = cloudpickle.dumps((job, arguments))
        try:
            for rank in taking_part:
                self.progress[rank].reset()
            for rank in taking_part:
                with contextlib.suppress(OSError):  # a dead one is found below
                    self.pipes[rank].send_bytes(content)
            return self._collect(taking_part, describe, stall, time.monotonic() + timeout)
        except BaseException:
            self.close()
            raise

    def close(self):
        """End all workers, however they are. The pool is of no more use."""
        if self.owner != os.getpid():
            return
        for process in self.processes:
            if process.is_alive():
                process.kill()
        for process in self.processes:
            process.join()
        for pipe in self.pipes + self._noise:
            pipe.close()
        self.processes, self.pipes, self._noise = [], [], []

    def words(self, rank: int) -> str:
        """The last that a worker wrote beside its jobs: a crash in C code says its reason there."""
        noise = self._noise[rank]
        with contextlib.suppress(OSError, EOFError):
            while noise.poll() and (content := os.read(noise.fileno(), 1 << 16)):
                self._words[rank] = (self._words[rank] + content.decode(errors="replace"))[-LAST_WORDS:]
        return self._words[rank]

    def replies(self, ranks, timeout: float) -> dict[int, dict]:
        """What these ranks have answered by now; waits until one answers or ends, at most `timeout` seconds."""
        watched = {self.pipes[rank]: rank for rank in ranks}
        ready = connection.wait([*watched, *(self.processes[rank].sentinel for rank in ranks)], timeout)
        found = {}
        for pipe, rank in watched.items():
            if pipe in ready:
                with contextlib.suppress(EOFError, OSError):  # its sentinel tells more
                    found[rank] = pickle.loads(pipe.recv_bytes())
        return found

    def _collect(self, ranks, describe, stall, deadline):
        replies, left = {}, set(ranks)
        seen, since = None, time.monotonic()
        while left:
            new = self.replies(left, timeout=0.1)
            replies |= new
            left -= set(new)
            if any("error" in reply for reply in new.values()) or any(
                    self.processes[rank].exitcode is not None for rank in left):
                raise cause_of(self, replies, left, describe)
            beats = [self.progress[rank].beats for rank in left]
            if new or beats != seen:
                seen, since = beats, time.monotonic()
            waiting = stall is not None and all(self.progress[rank].waiting for rank in left)
            if left and waiting and time.monotonic() - since > stall:
                raise stuck(self, left, describe, f"no progress for {stall} s, every rank waits for another")
            if left and time.monotonic() > deadline:
                raise stuck(self, left, describe, "the time limit of the run has passed")
        for rank in ranks:
            self.words(rank)
        return [replies[rank] for rank in ranks]


@contextlib.contextmanager
def _no_main():
    """Keep the caller's `__main__` out of the workers: it may be a kernel, a script without a guard, or no file at all."""
    real = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = real


@contextlib.contextmanager
def _no_interrupt():
    """Put Ctrl-C off for a moment: what is started meanwhile never gets it, for the mask is handed down."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_pool: Pool | None = None


def pool_of(ranks: int) -> Pool:
    """The warm pool of this process, with at least this many ranks; a job may be given to the first of them."""
    global _pool
    if _pool is None or not _pool.alive or _pool.ranks < ranks:
        close()
        _pool = Pool(ranks)
    return _pool


def close():
    """End the workers of the warm pool, if there are any; the next run starts new ones."""
    global _pool
    pool, _pool = _pool, None
    if pool is not None:
        pool.close()


def preload():
    """Let torch be imported in the background, so that the first run starts sooner. Returns at once."""
    if METHOD == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        forkserver.set_forkserver_preload(PRELOAD)
        resource_tracker.ensure_running()  # not below: it would let Ctrl-C through again
        with _no_main(), _no_interrupt():
            forkserver.ensure_running()


atexit.register(close)
