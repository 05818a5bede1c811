"""Rows of an experiment table run by our side: in a process of its own with a time limit, each row once for a whole class.

Only checked, plain configurations reach it. One JSON list of rows a line goes in, one of table lines comes out.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Collection

from course.plan import Row
from course.plan_rules import read_plan

SECONDS = 240.0  # for the rows of one question, on a busy machine with cold workers
MOST = 32  # rows of one question


class NotRun(Exception):
    """The rows could not be run here; the text says why."""


class TrustedRuns:
    """Runs rows where the first one is asked for; use it in a `with`. Threads may share it."""

    def __init__(self, seconds: float = SECONDS):
        self._seconds, self._lines, self._lock, self._process = seconds, {}, threading.Lock(), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def lines(self, rows: Collection[Row]) -> list[dict]:
        """The table's line of each row, in their order. NotRun where one cannot be run, or not within the time limit."""
        if len(rows) > MOST:
            raise NotRun(f"{len(rows)} rows, and at most {MOST} are run")
        with self._lock:
            new = [row for row in dict.fromkeys(rows) if row not in self._lines]
            if new:
                self._lines |= zip(new, self._ask(new), strict=True)
        return [dict(self._lines[row]) for row in rows]

    def _ask(self, rows):
        if self._process is None or self._process.poll() is not None:
            self._start()
        try:
            self._process.stdin.write(json.dumps([vars(row) for row in rows], default=float) + "\n")
            self._process.stdin.flush()
            reply = json.loads(self._replies.get(timeout=self._seconds) or '"its process has ended"')
        except (OSError, ValueError) as error:
            reply = f"{type(error).__name__}: {error}"
        except queue.Empty:
            reply = f"no result within {self._seconds:g} s"
        if isinstance(reply, str):
            self._end()
            raise NotRun(reply)
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
    """Answer each line of rows until the input ends: their table lines, or why there are none as a text."""
    from course.experiments import trusted_records
    from course.pipeline import PipelineError, close

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader ends this process
    replies, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin:
            rows = [row for item in json.loads(line) for row in read_plan([item]).rows.values()]
            try:
                reply = trusted_records(rows)
            except (PipelineError, OSError, MemoryError) as error:
                reply = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            print(json.dumps(reply, default=float), file=replies, flush=True)
    finally:
        close()


if __name__ == "__main__":
    main()
