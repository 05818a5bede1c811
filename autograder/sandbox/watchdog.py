"""Where no control group can be had: a thread that watches the memory of whole trees of processes."""

import contextlib
import os
import threading

PERIOD = 0.05  # seconds between two looks
SOCKET = 212_992  # bytes that the kernel holds for one at the most, as it comes
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Watchdog:
    """Calls `end(reason)` of each tree that takes more than `memory` bytes: its processes, and what their sockets can hold.

    It sees neither what they leave in files nor what else the kernel keeps for them.
    """

    def __init__(self, memory: int):
        self._memory, self._watched, self._stop = memory, {}, threading.Event()
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
            for key, (pid, end) in list(self._watched.items()):
                members, left = tree(pid), self._memory - SOCKET * _sockets(pid)
                # a page that several processes share counts once, which costs more to find out
                if sum(map(_resident, members)) > left and sum(map(_proportional, members)) > left:
                    self.forget(key)
                    end(f"it used more than {self._memory >> 20} MiB of memory")


def tree(pid: int) -> list[int]:
    """A process and all its descendants that have not ended."""
    found = [pid]
    for member in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{member}/task"):
                with contextlib.suppress(OSError), open(f"/proc/{member}/task/{thread}/children") as children:
                    found += map(int, children.read().split())
    return found


def _sockets(pid):
    """How many there are in its network namespace."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/net/sockstat") as lines:
        return int(lines.readline().split()[2])
    return 0


def _resident(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as sizes:
        return int(sizes.read().split()[1]) * _PAGE
    return 0


def _proportional(pid):
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup") as sizes:
        lines = (line.split() for line in sizes)
        return sum(int(line[1]) << 10 for line in lines if line[0] in ("Pss:", "SwapPss:"))
    return _resident(pid)
