"""What one submission may use."""

import contextlib
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

MESSAGE = 1 << 16  # bytes of a message between the grader and the fork server
SPARE, LEAST = 128, 16  # processes and threads that the grader may still need for itself; that a submission must have
SOCKET = 212_992  # bytes that the kernel holds at the most for a socket, of TCP in one direction (there by our own limit)


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes. Memory and processes (threads count) hold for the whole tree, CPU seconds and the rest for each process."""

    memory: int = 2 << 30
    processes: int = 256
    cpu_seconds: int = 120
    file: int = 64 << 20
    files: int = 128
    temporary: int = 128 << 20
    shared_memory: int = 256 << 20
    work: int = 64 << 20

    def shared(self, slots: int, room: float) -> "Limits":
        """These limits, with so few processes that `room` for so many more is enough for all slots and for the grader.

        Else a storm of them in one slot would be felt in all.
        """
        if room == math.inf:
            return self
        return replace(self, processes=min(self.processes, max(0, (int(room) - SPARE) // slots)))


def room_of_user() -> float:
    """How many more processes this user may have; where others run as this user, theirs count as well."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        if most != resource.RLIM_INFINITY:
            return most - threads()
    return math.inf


def threads() -> int:
    """How many threads this user has, which is what the system counts."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(path / "task")) if path.stat().st_uid == os.getuid() else 0
    return count
