"""A sandbox in a process of its own, as this user or as a normal one, and what sessions in it answer."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass

from tests.normal_user import become_nobody, environment

PATIENCE = 240  # seconds: a guard against hangs


@dataclass(frozen=True)
class Found:
    """What a session said: of each cell None or the kind of what it raised, `x` in the end, and so on."""

    ran: list
    x: object
    output: str
    ended: str | None


class Host:
    """Asks the process for sessions."""

    def __init__(self, process):
        self.process, self._lock = process, threading.Lock()

    def ask(self, question):
        """The reply to any question of `serve`."""
        with self._lock:
            print(json.dumps(question), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())

    def run(self, *cells: str, **limits) -> Found:
        """A new session with these cells; `x` is what that name holds afterwards, None without one."""
        return Found(**self.ask({"cells": cells, "limits": limits}))


@contextlib.contextmanager
def hosted(normal_user: bool):
    """A Host; its process and all that it has started have ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sandbox_host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
        preexec_fn=become_nobody if normal_user and os.geteuid() == 0 else None, env=environment())
    with process:
        try:
            host = Host(process)
            host.describe = host.ask({"describe": True})
            yield host
        finally:
            process.stdin.close()
            process.wait(PATIENCE)


def serve():
    """Answer questions, one JSON text a line, until the input ends."""
    from autograder.sandbox import open_sandbox
    from autograder.sandbox.selftest import LIMITS, Target, attack

    with open_sandbox(limits=LIMITS) as box, Target() as target:
        for line in sys.stdin:
            question = json.loads(line)
            if "describe" in question:
                reply = box.describe()
            elif "attack" in question:
                reply = asdict(attack(question["attack"], box, target))
            else:
                reply = asdict(outcome(box, question["cells"], question["limits"]))
            print(json.dumps(reply), flush=True)


def outcome(box, cells, limits) -> Found:
    """What these cells come to in a new session of a sandbox."""
    from course.answers import Raised

    with box.session(**limits) as session:
        ran = [found and found.type for found in map(session.run, cells)]
        x = session.answer("x").value()
        ended = session.ended
    return Found(ran, None if isinstance(x, Raised) else x, session.output, ended)


if __name__ == "__main__":
    serve()
