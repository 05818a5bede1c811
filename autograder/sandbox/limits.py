"""What one submission may use."""

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

MESSAGE = 1 << 16  # bytes of a message between the grader and the fork server
SPARE, LEAST = 48, 16  # processes and threads that the grader may still need for itself; that a submission must have


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes. Memory and processes (threads count) hold for the whole tree, CPU seconds and the rest for each process."""

    memory: int = 2 << 30
    processes: int = 256
    cpu_seconds: int = 120
    file: int = 64 << 20
    files: int = 512
    temporary: int = 128 << 20
    shared_memory: int = 256 << 20
    work: int = 64 << 20

    def shared(self, slots: int) -> "Limits":
        """These limits, with as many processes as leave some to the other slots where all are processes of this user.

        The system counts a user's processes: else a storm of them in one slot would be felt in all.
        """
        with contextlib.suppress(ImportError):  # Windows
            import resource

            most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
            if most != resource.RLIM_INFINITY:
                return replace(self, processes=min(self.processes, max(1, (most - threads() - SPARE) // slots)))
        return self


def threads() -> int:
    """How many threads this user has, which is what the system counts."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(path / "task")) if path.stat().st_uid == os.getuid() else 0
    return count
