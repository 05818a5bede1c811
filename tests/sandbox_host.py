"""A sandbox in a process of its own, as this user or as a normal one, and what sessions in it answer."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass

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
    from course.answers import Raised

    with open_sandbox() as box:
        for line in sys.stdin:
            question = json.loads(line)
            if "describe" in question:
                print(json.dumps(box.describe()), flush=True)
                continue
            with box.session(**question["limits"]) as session:
                ran = [found and found.type for found in map(session.run, question["cells"])]
                x = session.answer("x").value()
                ended = session.ended
            print(json.dumps({"ran": ran, "x": None if isinstance(x, Raised) else x, "output": session.output, "ended": ended}),
                  flush=True)


if __name__ == "__main__":
    serve()
