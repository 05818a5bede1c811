"""Programs that use the pipeline, each in a session of its own: started, watched, and looked for what they leave behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
PATIENCE = 30  # seconds: a guard, processes end at once

PROGRAM = """
import sys
from course import schedules
from course.pipeline import run

result = run(schedules.gpipe(2, 2), during=lambda operation: None)
again = run(schedules.one_f_one_b(2, 2))
assert result.max_gradient_difference == again.max_gradient_difference == 0.0
print(*result.pids, "torch" in sys.modules, result.machine["preloaded"])
"""


def environment(folder):
    """A temporary folder of its own, to see that nothing stays in it."""
    (folder / "temporary").mkdir(exist_ok=True)
    return os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary")}


def left_behind(folder):
    """What stays in the temporary folder."""
    return [path.name for path in (folder / "temporary").iterdir()]


def start(arguments, folder, within=(), **options):
    """Python with these arguments; `within` is a command that the call is given to."""
    return subprocess.Popen([*within, sys.executable, *map(str, arguments)], cwd=folder, env=environment(folder), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)


def session_of(leader):
    """Every process that a program started, however it is related to it."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def ends(leader):
    until = time.monotonic() + PATIENCE
    while session_of(leader) and time.monotonic() < until:
        time.sleep(0.05)
    return session_of(leader) == []
