"""Where no control group can be had: a thread that watches the memory of whole trees of processes."""

import contextlib
import os
import threading
import time

from autograder.sandbox.filesystem import WRITABLE
from autograder.sandbox.limits import SOCKET

PERIOD = 0.05  # seconds between two looks
# bytes, at the most, that the kernel keeps of a file, and of an area of a process's memory where there are very many of them
INODE, AREA = 1024, 1024
SUSPECT = 16  # the areas are counted, which costs time, when the machine's kernel holds such a part of the limit more than before
PATIENCE = 0.2  # seconds
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Watchdog:
    """Calls `end(reason)` of each tree that takes more than `memory` bytes.

    It counts its processes with their page tables, its files, and what its sockets and its areas of memory can make the kernel
    hold. It does not see what else the kernel keeps for them, as pipes.
    """

    def __init__(self, memory: int):
        self._memory, self._watched, self._stop = memory, {}, threading.Event()
        self._kernel = _unreclaimable()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def watch(self, key, pid: int, end):
        """From now on, the tree below this process."""
        self._watched[key] = pid, end

    def forget(self, key):
        """It has ended."""
        self._watched.pop(key, None)

    def close(self):
        """Watch no more."""
        self._stop.set()
        self._thread.join()

    def _look(self):
        while not self._stop.wait(PERIOD):
            now = _unreclaimable()
            self._kernel = min(self._kernel, now)
            suspect = now - self._kernel > self._memory // SUSPECT
            for key, (pid, end) in list(self._watched.items()):
                if self._too_much(pid, suspect):
                    self.forget(key)
                    end(f"it used more than {self._memory >> 20} MiB of memory")

    def _too_much(self, pid, suspect):
        members = tree(pid)
        left = self._memory - _files(pid) - SOCKET * _directions(pid) - sum(map(_page_tables, members))
        if suspect and AREA * _areas(members, left // AREA) > left:
            return True
        # a page that several processes share counts once, which costs more to find out
        return sum(map(_resident, members)) > left and sum(map(_proportional, members)) > left


def tree(pid: int) -> list[int]:
    """A process and all its descendants that have not ended."""
    found = [pid]
    for member in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{member}/task"):
                with contextlib.suppress(OSError), open(f"/proc/{member}/task/{thread}/children") as children:
                    found += map(int, children.read().split())
    return found


def _directions(pid):
    """How many buffers the sockets of its network namespace have; TCP's have two, and keep them also when they are closed."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/net/sockstat") as lines:
        counts = {line[0]: line for line in map(str.split, lines)}
        return int(counts["sockets:"][2]) + 2 * int(counts["TCP:"][2])
    return 0


def _files(pid):
    """Bytes in the files of a session, whose first process this is."""
    total = 0
    for folder in WRITABLE:
        with contextlib.suppress(OSError):
            found = os.statvfs(f"/proc/{pid}/root{folder}")
            total += (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * INODE
    return total


def _areas(members, most):
    """How many areas of memory these processes have; counted no further than `most`, and of each no longer than for PATIENCE.

    The youngest come first: who forks locks its list of them.
    """
    count = 0
    for member in reversed(members):
        until = time.monotonic() + PATIENCE
        with contextlib.suppress(OSError), open(f"/proc/{member}/maps", "rb", buffering=0) as lines:
            while count <= most and time.monotonic() < until and (part := lines.read(1 << 16)):
                count += part.count(b"\n")
    return count


def _unreclaimable():
    """Bytes that this machine's kernel holds for its own objects."""
    return _named_in("/proc/meminfo", "SUnreclaim:")


def _page_tables(pid):
    return _named_in(f"/proc/{pid}/status", "VmPTE:")


def _resident(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as sizes:
        return int(sizes.read().split()[1]) * _PAGE
    return 0


def _proportional(pid):
    return _named_in(f"/proc/{pid}/smaps_rollup", "Pss:", "SwapPss:") or _resident(pid)


def _named_in(path, *names):
    """The sum of these lines' sizes, in bytes; 0 where it cannot be read."""
    with contextlib.suppress(OSError, ValueError), open(path) as sizes:
        return sum(int(line[1]) << 10 for line in map(str.split, sizes) if line and line[0] in names)
    return 0
