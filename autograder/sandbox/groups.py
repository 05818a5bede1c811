"""Control groups: limits of memory and of processes that the kernel holds for a whole tree."""

import contextlib
import math
import os
import re
import secrets
import signal
import time
from pathlib import Path

from autograder.sandbox.limits import Limits

TOP = Path("/sys/fs/cgroup")
SPARE = 2  # our two processes beside a worker
TCP_PART = 8  # of a group's memory there is such a part more for TCP in version 1, which counts that by itself
_NAME = re.compile(r"grading-(\d+)-[0-9a-f]+")
_END_SECONDS = 10  # until what was killed must have ended


def make(limits: Limits, top: Path = TOP) -> list[str]:
    """Folders of new groups with these limits: one of version 2, or one for each controller of version 1.

    Empty where this user cannot limit both so.
    """
    memory, processes = str(limits.memory), str(limits.processes + SPARE)
    if (top / "cgroup.controllers").exists():
        kinds = [("", {"memory.max": memory, "pids.max": processes, "memory.swap.max": "0", "memory.oom.group": "1"})]
    else:
        kinds = [("memory", {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory,
                             "memory.kmem.tcp.limit_in_bytes": str(limits.memory // TCP_PART)}),
                 ("pids", {"pids.max": processes})]
    made = [folder for kind, settings in kinds for folder in _one(top / kind, kind, settings)]
    if len(made) < len(kinds):
        remove(made)
        return []
    return made


def remove(folders: list[str], inside: int | None = None):
    """Kill what is left in these groups and delete them; relative ones lie inside the open folder `inside`."""
    until = time.monotonic() + _END_SECONDS
    for folder in folders:
        while time.monotonic() < until:
            try:
                os.rmdir(folder, dir_fd=inside)
                break
            except FileNotFoundError:
                break
            except OSError:  # somebody is in it
                for pid in _members(folder, inside):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.002)


def out_of_memory(folders: list[str]) -> int:
    """How often the kernel has ended a process of these groups because there was no memory left for it."""
    for path in (Path(folder, name) for folder in folders for name in ("memory.events", "memory.oom_control")):
        with contextlib.suppress(OSError):
            counts = dict(line.split() for line in path.read_text().splitlines())
            return int(counts.get("oom_kill", 0))
    return 0


def _members(folder, inside):
    with contextlib.suppress(OSError), open(os.open(f"{folder}/cgroup.procs", os.O_RDONLY, dir_fd=inside)) as pids:
        return [int(pid) for pid in pids.read().split()]
    return []


def _one(mounted, controller, settings):
    """In the own group or the nearest one above that lets us, as a list of one folder or none."""
    for parent in _own_and_above(mounted, controller):
        _remove_orphans(parent)
        folder = parent / f"grading-{os.getpid()}-{secrets.token_hex(4)}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            limited = all(_set(folder / name, value) for name, value in settings.items())
            if limited and os.access(parent / "cgroup.procs", os.W_OK):
                return [str(folder)]
            folder.rmdir()
    return []


def _set(file, value):
    """Whether it could be limited so; swap, TCP by itself, and killing a group as a whole are not there in every kernel."""
    if not file.exists():
        return any(word in file.name for word in ("swap", "memsw", "oom", "tcp"))
    with contextlib.suppress(OSError):
        file.write_text(value)
        return True
    return False


def own_paths() -> list[tuple[str, str]]:
    """The controllers ("" for version 2) and the path of each group that this process is in."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        return [(controllers, path.strip("/")) for _, controllers, path in (line.split(":", 2) for line in lines)]
    return []


def room(top: Path = TOP) -> tuple[float, str]:
    """How many more processes the groups that this process is in may have, and which of them has the fewest: its folder."""
    found = [(math.inf, "")]
    for kind in ("", "pids"):
        for folder in _own_and_above(top / kind, kind):
            with contextlib.suppress(OSError, ValueError):  # no such limit, or "max"
                most, now = (int((folder / name).read_text()) for name in ("pids.max", "pids.current"))
                found.append((most - now, str(folder)))
    return min(found)


def _own_and_above(mounted, controller):
    for controllers, path in own_paths():
        if controller in controllers.split(","):
            own = mounted / path
            return [own, *(above for above in own.parents if above == mounted or mounted in above.parents)]
    return []


def _remove_orphans(parent):
    """Groups of graders that were killed."""
    for folder in parent.glob("grading-*"):
        if (named := _NAME.fullmatch(folder.name)) and not os.path.exists(f"/proc/{named[1]}"):
            remove([str(folder)])
