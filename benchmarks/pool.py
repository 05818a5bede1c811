"""The pool of workers: how soon it is there, what a job costs, what it holds.

Targets, 4 ranks: from a cell 4 s, 1 s when preloaded; a null job 5 ms; kill and respawn 0.5 s; 4 workers after a job 375 MiB.
Peers: 4 fresh processes that import torch and join a group, which is what torchrun and torch.multiprocessing.spawn start;
the standard library's ProcessPoolExecutor for the null job; workers that are spawned, for the memory.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.processes import above, pss
from benchmarks.table import best, heading, middle, show
from course.pipeline import close, run
from course.pipeline.pool import pool_of
from course.schedules import gpipe

RANKS = 4
COLD = """
import time
begin = time.perf_counter()
from course.pipeline import pool
pool.pool_of({ranks}).run(lambda worker: None)
print(time.perf_counter() - begin)
"""
FRESH = """
import torch, torch.distributed as dist
dist.init_process_group("gloo", store=dist.FileStore({path!r}, {ranks}), rank={rank}, world_size={ranks})
dist.barrier()
print("ready", flush=True)
input()
"""
SPAWNED = """
import json
from benchmarks.processes import pss
from course.pipeline import close, launch, run
from course.schedules import gpipe
launch.METHOD = "spawn"
print(json.dumps([pss(pid) for pid in run(gpipe({ranks}, 8), clock="virtual").pids]))
close()
"""
KERNEL = """
import json, os, sys
from course import notebook
from course.pipeline import run
from course.schedules import gpipe
print(json.dumps([os.getpid(), *run(gpipe({ranks}, 8), clock="virtual").pids, "torch" in sys.modules]))
"""


def cold():
    """Seconds in a new interpreter from the import to an answer of every rank."""
    done = subprocess.run([sys.executable, "-c", COLD.format(ranks=RANKS)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def preloaded():
    """Seconds when the fork server has done its imports."""
    pool_of(1)
    close()
    begin = time.perf_counter()
    pool_of(RANKS).run(lambda worker: None)
    return time.perf_counter() - begin


def respawned():
    """Seconds from a worker's death to an answer of every rank."""
    pool = pool_of(RANKS)
    os.kill(pool.processes[1].pid, signal.SIGKILL)
    begin = time.perf_counter()
    pool.processes[1].join()
    pool_of(RANKS).run(lambda worker: None)
    return time.perf_counter() - begin


def fresh():
    """Seconds until 4 new processes with torch are in one group."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        programs = [subprocess.Popen([sys.executable, "-c", FRESH.format(path=os.path.join(folder, "store"), ranks=RANKS,
                                                                         rank=rank)],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for rank in range(RANKS)]
        for program in programs:
            program.stdout.readline()
        seconds = time.perf_counter() - begin
        for program in programs:
            program.communicate("\n")
    return seconds


def null_jobs(number):
    """Milliseconds of each null job on the warm pool."""
    pool = pool_of(RANKS)
    found = []
    for _ in range(number):
        begin = time.perf_counter()
        pool.run(_nothing)
        found.append((time.perf_counter() - begin) * 1e3)
    return found


def null_jobs_of_executor(number):
    """Milliseconds of as many calls, one a process, on a warm ProcessPoolExecutor."""
    found = []
    with ProcessPoolExecutor(RANKS) as pool:
        for _ in range(number + 10):
            begin = time.perf_counter()
            for done in [pool.submit(_nothing) for _ in range(RANKS)]:
                done.result()
            found.append((time.perf_counter() - begin) * 1e3)
    return found[10:]


def _nothing(worker=None):
    return None


def memory():
    """MiB: 4 workers after a job, their fork server, 4 spawned workers after the same job, a notebook's kernel."""
    pids = run(gpipe(RANKS, 8), clock="virtual").pids
    forked, server = sum(map(pss, pids)), pss(above(pids[0]))
    close()
    done = subprocess.run([sys.executable, "-c", SPAWNED.format(ranks=RANKS)], capture_output=True, text=True, check=True)
    return forked, server, sum(json.loads(done.stdout)), *kernel()


def kernel():
    """MiB of a kernel after a run, of all its processes together, and whether torch is in the kernel."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(stderr=subprocess.DEVNULL)
    told = []
    try:
        client.execute_interactive(KERNEL.format(ranks=RANKS), timeout=120,
                                   output_hook=lambda message: told.append(message["content"].get("text", "")))
        own, *workers, torch = json.loads("".join(told).splitlines()[-1])
        return pss(own), sum(map(pss, [own, above(workers[0]), *workers])), torch
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=200)
    options = parser.parse_args()
    heading(f"pool of {RANKS}: {options.repeats} repeats, {options.jobs} jobs")
    ways = {"cold, from a cell": cold, "preloaded": preloaded, "kill and respawn": respawned, "fresh processes (peer)": fresh}
    seconds = {name: [] for name in ways}
    try:
        for _ in range(options.repeats):
            for name, way in ways.items():
                seconds[name].append(way())
        jobs = {"null job": null_jobs(options.jobs), "ProcessPoolExecutor (peer)": null_jobs_of_executor(options.jobs)}
        held = memory()
    finally:
        close()
    for unit, times in (("s", seconds), ("ms", jobs)):
        *_, peer = times.values()
        show(["", f"median {unit}", f"p10 {unit}", "ratio to peer", "ratio p10"],
             [[name, f"{middle(of):.2f}", f"{best(of):.2f}", f"{middle(of) / middle(peer):.2f}", f"{best(of) / best(peer):.2f}"]
              for name, of in times.items()])
    forked, server, spawned, own, together, torch = held
    show(["PSS", "MiB", "ratio to peer"],
         [["4 workers after a job", f"{forked:.0f}", f"{forked / (spawned or 1):.2f}"],
          ["their fork server", f"{server:.0f}", ""], ["4 spawned workers (peer)", f"{spawned:.0f}", "1.00"],
          [f"a notebook's kernel, {'with' if torch else 'without'} torch", f"{own:.0f}", ""],
          ["kernel, server and workers", f"{together:.0f}", ""]])


if __name__ == "__main__":
    main()
