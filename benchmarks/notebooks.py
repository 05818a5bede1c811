"""Each solved notebook from top to bottom, as in Binder: on one core, with all that it holds beside a JupyterLab.

Targets: 60 s a notebook on two cores (6: 120 s), 1536 MiB PSS in all on one. Peer: the same notebook on all cores.
"""

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import psutil

from benchmarks.processes import pss
from benchmarks.table import heading, show
from tests.browser import jupyter
from tests.headless import names, run_notebook

PAUSE = 0.5  # seconds between two looks at what is held


class Watch:
    """The most MiB that this process's children have held at once, JupyterLab and kernels and workers."""

    def __init__(self):
        self.most, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _look(self):
        own = psutil.Process()
        while not self._over.wait(PAUSE):
            self.most = max(self.most, sum(pss(child.pid) for child in own.children(recursive=True)))


def run_on(cores: set[int], name: str) -> tuple[float, float]:
    """Seconds and most MiB of a notebook whose processes have these cores."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        with tempfile.TemporaryDirectory() as folder, Watch() as watch:
            begin = time.perf_counter()
            run_notebook("solutions", name, Path(folder))
            return time.perf_counter() - begin, watch.most
    finally:
        os.sched_setaffinity(0, usual)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="notebooks, such as 1_gpipe_diagram; all of them")
    wanted = [f"{name.removesuffix('.ipynb')}.ipynb" for name in parser.parse_args().names] or names("solutions")
    heading("Solved notebooks from top to bottom")
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as place, jupyter(place, place):
        rows = []
        for name in wanted:
            (one, held), (all_of_them, also_held) = run_on({cores[0]}, name), run_on(set(cores), name)
            rows.append([name, f"{one:.0f}", f"{all_of_them:.0f}", f"{one / all_of_them:.2f}", f"{max(held, also_held):.0f}"])
        show(["", "s on one core", f"s on {len(cores)} (peer)", "ratio", "most MiB, JupyterLab included"], rows)


if __name__ == "__main__":
    main()
