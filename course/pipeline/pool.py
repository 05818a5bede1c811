"""The caller's side of the workers: start them, give each job to the ranks, see to it that none outlives its use."""

import atexit
import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import connection

import cloudpickle

from course.pipeline import launch
from course.pipeline.diagnosis import cause_of, could_not_start, no_room, stuck
from course.pipeline.errors import PipelineError
from course.pipeline.machine import free_memory
from course.pipeline.progress import FIELDS, Progress
from course.pipeline.shared import shared_numbers
from course.pipeline.worker import INTRODUCTION, main

LAST_WORDS = 4000  # characters kept of what a worker wrote beside its jobs
ONE_RANK, TORCH = 20 << 20, 180 << 20  # bytes of memory, at least: a worker's own, and what the fork server's children share
START = 120  # seconds: a guard against what hangs


class Pool:
    """Worker processes, one a rank, which stay warm between jobs. A job that fails or is interrupted ends them all."""

    def __init__(self, ranks: int):
        _need_memory(ranks)
        self.ranks = ranks
        self.owner = os.getpid()
        self.processes, self.pipes, self._noise = [], [], []
        self._words = [""] * ranks
        try:
            numbers = shared_numbers(ranks * FIELDS)
            self.progress = [Progress(numbers, rank) for rank in range(ranks)]
            self._start(numbers)
            self._collect(range(ranks), lambda rank, position: None, stall=None, deadline=time.monotonic() + START)
        except BaseException as error:
            self.close()
            if isinstance(error, (EOFError, OSError, MemoryError)):
                raise could_not_start(error) from error
            raise

    def _start(self, numbers):
        launch.preload()
        launch.wait_for_imports()
        for rank in range(self.ranks):
            ours, theirs, heard, said = launch.pipes()
            self.pipes.append(ours)
            self._noise.append(heard)
            with theirs, said:
                self.processes.append(launch.start(main, (rank, self.ranks, theirs, said, numbers), f"rank {rank}"))

    @property
    def alive(self) -> bool:
        """Whether every worker is there, and ours: a forked copy of this process must leave them alone."""
        return self.owner == os.getpid() and len(self.processes) == self.ranks and all(
            process.is_alive() for process in self.processes)

    def run(self, job: Callable | str, *arguments, ranks: int | None = None, stall: float | None = 1.5,
            timeout: float = 120, describe: Callable[[int, int], str | None] = lambda rank, position: None) -> list[dict]:
        """Do `job(worker, *arguments)` on the first `ranks` ranks. Returns a dict a rank: result, output (its stdout).

        A job is a function, which travels by value when it is a notebook's, or `module:name` for one that this process
        must not import. `describe` is as course.pipeline.places has it. PipelineError when a rank fails, when all that
        are left wait for each other for `stall` seconds, or after `timeout` seconds; KeyboardInterrupt passes through.
        """
        taking_part = range(self.ranks if ranks is None else ranks)
        content = travelling((job, arguments))
        try:
            for rank in taking_part:
                self.progress[rank].reset()
            for rank in taking_part:
                with contextlib.suppress(OSError):  # a dead one is found below
                    self.pipes[rank].send_bytes(content)
            return self._collect(taking_part, describe, stall, time.monotonic() + timeout)
        except BaseException as error:
            closed = not self.processes
            self.close()
            if closed and isinstance(error, Exception):
                raise PipelineError("the workers were ended by close() during this run", None, None, "close()") from error
            raise

    def close(self):
        """End all workers, however they are. The pool is of no more use."""
        if self.owner != os.getpid():
            return
        with launch.no_interrupt():
            processes, pipes = self.processes, self.pipes + self._noise
            self.processes, self.pipes, self._noise = [], [], []
            for process in processes:
                if process.is_alive():
                    process.kill()
                elif process.exitcode == 255:  # without its fork server nobody knows of it
                    with contextlib.suppress(OSError):
                        os.kill(process.pid, signal.SIGKILL)
            for process in processes:
                process.join()
            launch.forget(processes)
            for pipe in pipes:
                pipe.close()

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
                    content = pipe.recv_bytes()
                    if content.startswith(INTRODUCTION):
                        self._introduce(rank, content)
                    else:
                        found[rank] = pickle.loads(content)
        return found

    def _introduce(self, rank, content):
        for other, pipe in enumerate(self.pipes):
            if other != rank:
                with contextlib.suppress(OSError):
                    pipe.send_bytes(content)

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


def travelling(value) -> bytes:
    """A value as it goes to the workers. ValueError for what cannot go."""
    try:
        return cloudpickle.dumps(value)
    except Exception as error:
        raise ValueError(f"this cannot be sent to the processes ({type(error).__name__}: {error}): a function must not refer "
                         "to open files, locks, widgets or the like") from error


def _need_memory(ranks):
    spawned = launch.METHOD == "spawn"
    needed = ranks * (ONE_RANK + TORCH * spawned) + TORCH * (not spawned and not launch.preloaded())
    free = free_memory()
    if free is not None and free < needed:
        raise no_room(ranks, needed, free)


_pool: Pool | None = None
_turn = threading.Lock()


@contextlib.contextmanager
def taken(ranks: int):
    """The warm pool for one run: another thread that asks for it waits for its turn."""
    with _turn:
        yield pool_of(ranks)


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
    with contextlib.suppress(OSError):  # that run will say it
        launch.preload()


atexit.register(close)
