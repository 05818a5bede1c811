"""Where no control group can be had: a thread that watches the memory of whole trees of processes."""

import contextlib
import os
import threading

PERIOD = 0.05  # seconds between two looks
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Watchdog:
    """Calls `end(reason)` of each tree that takes more than `memory` bytes. It sees processes, not what they leave in files."""

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
                members = tree(pid)
                # a page that several processes share counts once, which costs more to find out
                if sum(map(_resident, members)) > self._memory and sum(map(_proportional, members)) > self._memory:
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


def _resident(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as sizes:
        return int(sizes.read().split()[1]) * _PAGE
    return 0


def _proportional(pid):
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup") as sizes:
        lines = (line.split() for line in sizes)
        return sum(int(line[1]) << 10 for line in lines if line[0] in ("Pss:", "SwapPss:"))
    return _resident(pid)
