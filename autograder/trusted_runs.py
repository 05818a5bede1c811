"""Rows of an experiment table run by our side: in a process of its own, each once for a whole class.

Only checked, plain configurations reach it. A line of JSON goes in for each, one comes out.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection

from course.plan import Row
from course.plan_rules import read_plan

SECONDS, MOST = 150.0, 24  # for the rows of one submission, on a busy machine with cold workers; how many they may be


class NotRun(Exception):
    """The rows could not be run here; the text says why."""


class TrustedRuns:
    """Runs rows, each where it is asked for first; use it in a `with`. Threads may share it."""

    def __init__(self):
        self._lines, self._lock, self._process, self._open = {}, threading.Lock(), None, True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def lines(self, rows: Collection[Row], seconds: float = SECONDS) -> list[dict]:
        """The table's line of each row, in their order. NotRun where one cannot be run, or not within these seconds.

        The time that others need who asked before is not counted; what was run in time is kept for who asks next.
        """
        with self._lock:
            until = time.monotonic() + seconds
            for row in sorted(set(rows) - set(self._lines), key=lambda row: (-row.processes, row.key)):
                self._lines[row] = self._ask(row, until - time.monotonic())
            return [dict(self._lines[row]) for row in rows]

    def close(self):
        """End the process and its workers; who waits for it gets NotRun."""
        self._open = False
        self._end()

    def _ask(self, row, seconds):
        if not self._open:
            raise NotRun("the grader was stopped")
        try:
            if self._process is None:
                self._start()
            self._process.stdin.write(json.dumps(vars(row), default=float) + "\n")
            self._process.stdin.flush()
            reply = json.loads(self._replies.get(timeout=max(0.0, seconds)) or '"its process has ended"')
        except (OSError, ValueError) as error:
            reply = f"{type(error).__name__}: {error}"
        except queue.Empty:
            reply = "its time was used up"
        if isinstance(reply, str):
            self._end()
            raise NotRun(f"{row.label}: {reply}")
        return reply

    def _start(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.trusted_runs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(
                filter(None, sys.path))})
        self._replies = queue.Queue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._replies), daemon=True).start()

    def _end(self):
        """End the process and its workers, whatever they do."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


def _listen(pipe, replies):
    with pipe:
        for line in pipe:
            replies.put(line)
    replies.put("")


def main():
    """Answer each row until the input ends: with its line of the table, or with a text that says why there is none."""
    from course.experiments import trusted_records
    from course.pipeline import PipelineError, close

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader ends this process
    replies, sys.stdout = sys.stdout, sys.stderr
    try:
        for text in sys.stdin:
            try:
                (reply,) = trusted_records(read_plan([json.loads(text)]).rows.values())
            except (PipelineError, OSError, MemoryError) as error:
                reply = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            print(json.dumps(reply, default=float), file=replies, flush=True)
    finally:
        close()


if __name__ == "__main__":
    main()
