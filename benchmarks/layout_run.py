"""Layouts on eight real processes: how long, how much memory, and whether the wire carries what is counted.

Targets: 8 processes under 1.2 GiB. Peers: workers that import DTensor themselves, instead of being forked from a process that
has it; for the bytes, what the system counts on the loopback interface, idle traffic taken off.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.processes import above, pss
from benchmarks.table import best, heading, middle, show
from course.layout.run import run_layout
from course.layout.volumes import ring_bytes
from course.pipeline import close
from course.pipeline.pool import pool_of

LAYOUTS = ((2, 2, 2, 1, 1), (2, 4, 1, 1, 2), (8, 1, 1, 1, 1), (1, 8, 1, 1, 1), (1, 1, 8, 1, 1))
ITSELF = """
import json
from benchmarks.processes import pss
from course.layout.run import run_layout
from course.pipeline import close, launch
launch._wanted.clear()
print(json.dumps([pss(pid) for pid in run_layout(2, 2, 2).pids]))
close()
"""
LOOPBACK = Path("/proc/net/dev")
DATA, TIMES = 8 << 20, 10


def clocked(layout, repeats):
    """Seconds of each of some runs, and the last run."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = run_layout(*layout)
        found.append(time.perf_counter() - begin)
    return found, result


def row_of(layout, repeats):
    """One layout: seconds of its first run on a pool and of later ones, MiB of the workers, the largest difference."""
    (first, *later), result = clocked(layout, repeats + 1)
    memory, server = sum(map(pss, result.pids)), pss(above(result.pids[0]))
    return [str(result.layout), f"{first:.1f}", f"{middle(later):.1f}", f"{best(later):.1f}", f"{memory:.0f}", f"{server:.0f}",
            f"{result.max_gradient_difference:.1g}"]


def _add_up(worker, size, times):
    import torch
    import torch.distributed as dist

    data = torch.ones(size // 4)
    for _ in range(times):
        dist.all_reduce(data)


def on_loopback():
    """Bytes that this machine has sent to itself."""
    lines = map(str.split, LOOPBACK.read_text().splitlines())
    return next(int(line[9]) for line in lines if line[0] == "lo:")


def wire(ranks):
    """What each of some ranks sent in an all-reduce over what it added up, by the system's count and by the ring's formula."""
    pool = pool_of(ranks)
    pool.run(_add_up, 4096, 1, ranks=ranks)
    begin, before = time.perf_counter(), on_loopback()
    time.sleep(1)
    idle = (on_loopback() - before) / (time.perf_counter() - begin)
    begin, before = time.perf_counter(), on_loopback()
    pool.run(_add_up, DATA, TIMES, ranks=ranks)
    sent = on_loopback() - before - idle * (time.perf_counter() - begin)
    return [ranks, f"{sent / TIMES / ranks / DATA:.3f}", f"{ring_bytes(1, ranks):.3f}"]


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    heading(f"layouts on 8 processes, {options.repeats} repeats after the first, global batch 8, 2 steps")
    try:
        show(["layout", "first, s", "median s", "p10 s", "8 workers, MiB PSS", "fork server", "largest difference"],
             [row_of(layout, options.repeats) for layout in LAYOUTS])
        close()
        done = subprocess.run([sys.executable, "-c", ITSELF], capture_output=True, text=True, check=True)
        show(["PSS", "MiB"], [["8 workers that import DTensor themselves (peer)", f"{sum(json.loads(done.stdout)):.0f}"]])
        if LOOPBACK.exists():
            rows = []
            for ranks in (2, 4, 8):
                close()
                rows.append(wire(ranks))
            show(["ranks", "sent over data, by the system", "by the formula"], rows)
    finally:
        close()


if __name__ == "__main__":
    main()
