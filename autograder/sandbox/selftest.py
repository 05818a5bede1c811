"""Attacks this machine through the sandbox, and says of each attack whether it was held back."""

import contextlib
import dataclasses
import os
import secrets
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from autograder.sandbox import filesystem
from autograder.sandbox.attacks import HARMFUL, HARMLESS, NEXT, Range
from autograder.sandbox.box import open_sandbox
from autograder.sandbox.failure import SandboxFailed
from autograder.sandbox.folders import SECRET, bait_folder
from autograder.sandbox.limits import Limits
from autograder.session import MAX_OUTPUT
from course.answers import Raised

LIMITS = Limits(memory=768 << 20, processes=48)
SECONDS, BUDGET, COMPUTING = 12.0, 40.0, 2.0
SHORT = ("ignore the time limit", "ignore every signal", "print without end")  # what would take all of its seconds has only one
END_SECONDS = 10.0  # until a process that was ended must be gone


@dataclasses.dataclass(frozen=True)
class Attack:
    """An attack, whether it was held back, and what it has got or how it ended."""

    name: str
    held: bool
    detail: str


class Target:
    """The grader's bait for the attacks; use it in a `with`."""

    def __init__(self, limits: Limits = LIMITS):
        self._limits, self.word = limits, f"word-{secrets.token_hex(8)}"
        self._stack, self._neighbour = contextlib.ExitStack(), None

    def __enter__(self):
        with contextlib.ExitStack() as begun:
            self._folder = begun.enter_context(bait_folder())
            self._listener = begun.enter_context(socket.create_server(("127.0.0.1", 0)))
            self._abstract = begun.enter_context(socket.socket(socket.AF_UNIX))
            self._abstract.bind(f"\0{self.word}")
            self._abstract.listen()
            begun.callback(self._end_neighbour)
            self._stack = begun.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def range(self) -> Range:
        """Where to aim; the process is a new one if the last was ended."""
        if not self.neighbour_lives():
            self._end_neighbour()
            self._neighbour = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", self.word],
                                               env={**os.environ, "WORD": self.word})
        sizes = self._limits
        beside_course = [str(path) for path in filesystem.COURSE.parent.iterdir() if path.name in ("solutions", "tests")]
        return Range(str(self._folder / SECRET), (str(self._folder), *beside_course),
                     self._listener.getsockname(), f"\0{self.word}", self._neighbour.pid, self.word, sizes.memory,
                     sizes.processes, sizes.files, sizes.temporary + sizes.shared_memory + sizes.work)

    def neighbour_lives(self) -> bool:
        """Whether the process that attacks aim at is there."""
        return self._neighbour is not None and self._neighbour.poll() is None

    def left_behind(self) -> bool:
        """Whether a process of an attack is still there, some time after its session."""
        until = time.monotonic() + END_SECONDS
        while found := any(f"{self.word}-left" in _arguments(pid) for pid in os.listdir("/proc") if pid.isdecimal()):
            if time.monotonic() > until:
                return True
            time.sleep(0.05)
        return found

    def _end_neighbour(self):
        if self._neighbour is not None:
            self._neighbour.kill()
            self._neighbour.wait()


def _arguments(pid):
    with contextlib.suppress(OSError):
        return Path("/proc", pid, "cmdline").read_text(errors="replace")
    return ""


def attack(name: str, box, target: Target) -> Attack:
    """Try one attack in a session of this sandbox."""
    aim = target.range()
    with box.session(1.0 if name in SHORT else SECONDS, BUDGET, COMPUTING) as session:
        session.run(aim.cell())
        session.run("x = ''\n" + ({**HARMLESS, **HARMFUL})[name])
        got = session.answer("x").value()
    if name == "leave files for the next one":
        with box.session(SECONDS, BUDGET, COMPUTING) as session:
            session.run(aim.cell() + NEXT)
            got = session.answer("x").value()
    evidence = {
        str(got): isinstance(got, str) and got != "",
        "another process was ended": not target.neighbour_lives(),
        "a process is left": name == "leave a process behind" and target.left_behind(),
        "it printed too much": len(session.output) > MAX_OUTPUT,
        "the time limit did not hold": name.startswith("ignore") and not isinstance(got, Raised),
        "it was taken for an answer": "frame" in name and not isinstance(got, Raised),
    }
    found = [what for what, holds in evidence.items() if holds]
    return Attack(name, not found, "; ".join(found) or (got.text if isinstance(got, Raised) else "nothing got"))


def selftest() -> list[Attack]:
    """Every attack on this machine; SandboxFailed where there is no sandbox to attack."""
    with Target() as target, open_sandbox(limits=LIMITS) as box:
        return [attack(name, box, target) for name in {**HARMLESS, **HARMFUL}]


def add(parser):
    """No options."""


def run(_arguments) -> int:
    """Print the attacks as a table. 1 when one was not held back, 2 when there is no sandbox."""
    try:
        with Target() as target, open_sandbox(limits=LIMITS) as box:
            print(textwrap.fill(f"{box.describe()} The limits are smaller here than in grading, to be quick.", 110))
            found = []
            for name in {**HARMLESS, **HARMFUL}:
                found.append(attack(name, box, target))
                print(f"{'held' if found[-1].held else 'NOT HELD':10}{name:40}{found[-1].detail}", flush=True)
    except SandboxFailed as failure:
        print(failure, file=sys.stderr)
        return 2
    broken = sum(not one.held for one in found)
    print(f"{len(found) - broken} of {len(found)} attacks were held back.")
    return int(broken > 0)
