"""Whether this machine can run the course, and what to do where it cannot."""

import importlib.metadata
import platform
import sys
import time

from course.pipeline import PipelineError, run
from course.pipeline.machine import cores, free_memory
from course.schedules import gpipe
from course.view import BAD, GOOD, View, paragraphs, table, together

NEEDED_MEMORY = 0.9 * 2**30  # bytes: four workers with torch, the kernel and JupyterLab, with room
PROCESSES = 4


def machine_view() -> View:
    """Cores, memory, Python, torch and a real start of the processes, each with what to do when it is missing."""
    rows, advice = [], []
    for name, (good, found, way_out) in {"Python": _python(), "cores": _cores(), "memory": _memory(), "torch": _torch(),
                                         f"{PROCESSES} processes": _processes()}.items():
        rows.append([GOOD if good else BAD, name, found])
        if not good:
            advice.append(f"{name}: {way_out}")
    ready = "Everything is there." if not advice else "What is missing, and what to do:"
    return together(table(["", "this machine", "found"], rows), paragraphs(ready, *advice))


def _python():
    return (sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.system()}",
            "this course needs Python 3.11 or newer: set it up again as the README says.")


def _cores():
    count = cores()
    return count >= 1, f"{count:g}" + ("" if count >= 2 else ", enough: runs take longer, the numbers stay right"), ""


def _memory():
    free = free_memory()
    if free is None:
        return True, "not known on this system; about 1 GB free is needed", ""
    return (free >= NEEDED_MEMORY, f"{free / 2**30:.1f} GiB free",
            f"about {NEEDED_MEMORY / 2**30:.1f} GiB are needed to start {PROCESSES} processes: close other programs and other "
            "notebooks' kernels (menu Kernel, Shut Down All Kernels).")


def _torch():
    try:
        return True, importlib.metadata.version("torch"), ""
    except importlib.metadata.PackageNotFoundError:
        return False, "not installed", "install it as the README says, then restart this kernel."


def _processes():
    begin = time.perf_counter()
    try:
        run(gpipe(PROCESSES, 1), clock="virtual", steps=1)
    except (PipelineError, OSError, ValueError) as error:
        return False, "did not start", (
            f"{getattr(error, 'message', error)}. Restart the kernel and try again; where processes are forbidden (some hosted "
            "notebooks), take another machine: checks work without them, real runs do not.")
    return True, f"started, and trained one step, in {time.perf_counter() - begin:.1f} s", ""
