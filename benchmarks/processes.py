"""What processes hold: their proportional share of memory, so that pages which several share are counted once."""

from pathlib import Path

import psutil

MIB = 1 << 20


def pss(pid: int) -> float:
    """MiB of one process; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")) / MIB


def above(pid: int) -> int:
    """The parent of a process: of a worker, the fork server."""
    return psutil.Process(pid).ppid()
