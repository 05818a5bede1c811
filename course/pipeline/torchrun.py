"""The processes that torchrun started, with the face of a pool: rank 0 gives a job to all, itself included.

Jobs and replies go through the store of torchrun's rendezvous, so a rank whose neighbours are lost can still say so.
"""

import contextlib
import os
import pickle
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import cloudpickle
import torch
import torch.distributed as dist

from course.pipeline.errors import PipelineError
from course.pipeline.progress import FIELDS, Progress
from course.pipeline.worker import PATIENCE, Worker, do

PIECE = 1 << 22  # bytes: the store refuses what is much larger
LOST = 1.0  # seconds to wait for a better reason than a lost neighbour, or for ranks that may be lost themselves
LEAVING = 5.0  # seconds for all ranks to hear that all is done


def connect() -> dist.Store:
    """A connection to the rendezvous: one for each thread that waits."""
    store, _, _ = next(dist.rendezvous("env://", timeout=PATIENCE))
    return dist.PrefixStore("course", store)


def serve(rank: int, ranks: int) -> int:
    """Do the jobs that rank 0 gives, until it ends. Returns the exit code that it gives."""
    store, number = connect(), 0
    worker = Worker(rank, Progress([0] * FIELDS, 0), preloaded=False)
    while True:
        taking_part, content = pickle.loads(_take(store, f"job/{number}"))
        if content is None:
            store.set(f"left/{rank}", "")
            return taking_part
        if rank < taking_part:
            reply = _reply(worker, content, together=taking_part == ranks and dist.is_initialized())
            place = store.add(f"replies/{number}", 1)
            _put(store, f"reply/{number}/{place}", pickle.dumps(reply))
        number += 1


def _reply(worker, content, together):
    reply = {"output": ""}
    try:
        if together:
            dist.all_reduce(torch.zeros(1))  # all begin at once; a barrier would take the GPU's backend
        reply = pickle.loads(do(worker, content))
    except RuntimeError as error:
        reply |= {"error": str(error), "details": "", "of_neighbour": True}
    return reply | {"rank": worker.rank, "position": worker.progress.position}


class Processes:
    """All ranks, seen from rank 0; its own jobs are done by a thread, so that this side can still speak when they fail."""

    def __init__(self, ranks: int):
        self.ranks, self._store, self._number = ranks, connect(), 0
        self._mine = threading.Thread(target=serve, args=(0, ranks), daemon=True)
        self._mine.start()

    def run(self, job: Callable | str, *arguments, ranks: int | None = None, timeout: float = 120,
            describe: Callable[[int, int], str | None] = lambda rank, position: None) -> list[dict]:
        """As Pool.run, without a watch for ranks that wait for each other. PipelineError names the rank at fault."""
        taking_part, until = self.ranks if ranks is None else ranks, time.monotonic() + timeout
        number, self._number = self._number, self._number + 1
        _put(self._store, f"job/{number}", pickle.dumps((taking_part, cloudpickle.dumps((job, arguments)))))
        replies = {}
        while len(replies) < taking_part:
            if (reply := self._next(number, len(replies) + 1, until)) is None:
                silent = ", ".join(str(rank) for rank in range(taking_part) if rank not in replies)
                raise PipelineError(f"the time limit of the run has passed: nothing was heard of rank {silent}", None, None,
                                    "no answer")
            replies[reply["rank"]] = reply
            if "error" in reply:
                raise self._error(number, replies, taking_part, describe)
        return [replies[rank] for rank in range(taking_part)]

    def _next(self, number, place, until):
        key = f"reply/{number}/{place}"
        try:
            self._store.wait([key], timedelta(seconds=max(0.001, until - time.monotonic())))
        except dist.DistStoreError:
            return None
        return pickle.loads(_take(self._store, key))

    def _error(self, number, replies, taking_part, describe):
        until = time.monotonic() + LOST
        while len(replies) < taking_part and all(reply.get("of_neighbour", True) for reply in replies.values()):
            if (reply := self._next(number, len(replies) + 1, until)) is None:
                break
            replies[reply["rank"]] = reply
        failed = [reply for reply in replies.values() if "error" in reply]
        reply = min(failed, key=lambda reply: reply["of_neighbour"])
        rank, position = reply["rank"], reply["position"]
        place = describe(rank, position) if position >= 0 else None
        return PipelineError(f"rank {rank} failed {f'at {place}' if place else 'outside its operations'}: {reply['error']}",
                             rank, place, reply["error"], reply["details"])

    def end(self, code: int):
        """Let every rank that still listens leave with this exit code."""
        with contextlib.suppress(dist.DistStoreError):
            _put(self._store, f"job/{self._number}", pickle.dumps((code, None)))
            self._store.wait([f"left/{rank}" for rank in range(self.ranks)], timedelta(seconds=LOST if code else LEAVING))
            self._mine.join(LOST)


def join(worker, device: str, ranks: int) -> dict:
    """The first job: take the device, join the group. Returns which machine and device this rank has."""
    if device == "cuda":
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if local >= torch.cuda.device_count():
            raise ValueError(f"local rank {local} has no GPU, its machine has {torch.cuda.device_count()}: start as many "
                             "processes a machine as it has GPUs, or take --device cpu")
        torch.cuda.set_device(local)
        worker.device = f"cuda:{local}"
    torch.set_num_threads(1)
    store, _, _ = next(dist.rendezvous("env://", timeout=PATIENCE))
    dist.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo", store=store, rank=worker.rank,
                            world_size=ranks, timeout=PATIENCE)
    return {"node": f"{socket.gethostname()} {os.environ.get('GROUP_RANK', '0')}",
            "device": torch.cuda.get_device_name() if device == "cuda" else "cpu"}


def leave(worker):
    """The last job: give the group up, so that nothing complains at the end."""
    dist.destroy_process_group()


def _put(store, key, value):
    pieces = range(0, len(value), PIECE)
    for number, begin in enumerate(pieces):
        store.set(f"{key}/{number}", value[begin:begin + PIECE])
    store.set(key, str(len(pieces)))


def _take(store, key):
    return b"".join(store.get(f"{key}/{number}") for number in range(int(store.get(key))))
