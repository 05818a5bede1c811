"""Where submissions run, one at a time in each slot, and what becomes of a slot when its submission has ended."""

import contextlib
import dataclasses
import json
import os
import queue
import select
import signal
import threading

from autograder.sandbox.epolls import EpollCount
from autograder.sandbox.failure import SandboxFailed
from autograder.sandbox.groups import out_of_memory
from autograder.sandbox.limits import MESSAGE
from autograder.session import SOON, cause

END_SECONDS = 60  # a guard against hangs, no measurement


@dataclasses.dataclass(frozen=True)
class Slot:
    """Where one submission at a time runs: the user that it becomes, None to stay the grader's, and its control groups."""

    uid: int | None
    groups: tuple[str, ...]


class Boxed:
    """One worker inside: the descriptors that a session speaks through; killed as a whole, with all that it has started."""

    def __init__(self, pipes, status, handle, listener, slot, slots, forget):
        self.requests, self.replies, self.output = pipes
        self._status, self._handle, self._slot, self._slots, self._forget = status, handle, slot, slots, forget
        self._lock, self._blamed, self._strikes = threading.Lock(), "", out_of_memory(slot.groups)
        self._epolls = None if listener is None else EpollCount(listener, self.kill)
        status.settimeout(END_SECONDS)

    def kill(self, reason: str = ""):
        """End every process inside."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            self._blamed = self._blamed or reason
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self):
        """Return when no process is left inside and the slot is given back, or when it must be waited for too long.

        The slot is then given back later, or never: what is left there would meet the next submission.
        """
        with self._lock:
            if self._handle is None:
                return
            handle, self._handle = self._handle, None
        if self._epolls is not None:
            self._epolls.close()
        if _ended(handle, END_SECONDS):
            self._leave(handle)
        else:
            self._slots.occupied(self._slot)
            threading.Thread(target=self._leave, args=(handle,), daemon=True).start()

    def _leave(self, handle):
        with self._status, contextlib.suppress(OSError):
            _ended(handle, None)
            while self._status.recv(MESSAGE):
                pass
        os.close(handle)
        self._forget(self._slot)
        self._slots.give_back(self._slot)

    def why(self) -> str:
        """What is known about its end, when it sends no more."""
        with self._lock:
            if self._handle is None:
                return self._blamed or "it was closed"
            handle = os.dup(self._handle)
        try:
            if not _ended(handle, SOON):
                return "it has closed the pipe of its answers"
        finally:
            os.close(handle)
        code = None
        with self._lock, contextlib.suppress(OSError, ValueError):
            code = json.loads(self._status.recv(MESSAGE))["code"]
        if out_of_memory(self._slot.groups) > self._strikes:
            return "it used more memory than a submission may"
        return self._blamed or f"its process has ended{cause(code)}"


def _ended(handle, seconds):
    """Whether the process of this pidfd, and with it all in its pid namespace, ends within this time; None waits for ever."""
    return readable(handle, seconds)


def readable(descriptor: int, seconds: float | None) -> bool:
    """Whether there is something to read, or its end, within this time."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(None if seconds is None else seconds * 1000))


class Slots:
    """The slots that are free, and those where processes of a submission that was ended are still there; thread-safe."""

    def __init__(self, slots: list[Slot]):
        self.all, self._free, self._occupied = tuple(slots), queue.SimpleQueue(), set()
        for slot in slots:
            self._free.put(slot)

    def take(self, seconds: float = END_SECONDS) -> Slot:
        """The next one that is free. SandboxFailed where all stay occupied by what was ended, for so long."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._free.get(timeout=seconds)
            if len(self._occupied) == len(self.all):
                raise SandboxFailed("processes of submissions that were ended do not end",
                                    "`ps -ef` shows what they wait for; start again when they are gone, or the machine")

    def occupied(self, slot: Slot):
        """It is not free, though its submission was ended."""
        self._occupied.add(slot)

    def give_back(self, slot: Slot):
        """Nothing of its submission is left."""
        self._occupied.discard(slot)
        self._free.put(slot)
