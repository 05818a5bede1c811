"""Rows of an experiment table run by our side: in a process of its own, each once for a whole class.

Only checked, plain configurations reach it. A line of JSON goes in for each, one comes out.
"""

import threading
import time
from collections.abc import Collection

from autograder.our_process import NoReply, OurProcess, lines_to_answer
from course.plan import Row
from course.plan_rules import read_plan

SECONDS = 150.0  # for the rows of one submission, on a busy machine with cold workers
PATIENCE = 5.0  # seconds for the workers to end in peace


class NotRun(Exception):
    """The rows could not be run here, for a reason that is not the submission's; the text says why."""


class TooMany(Exception):
    """A submission asks for more rows than are run for one; the text says how many."""


class TrustedRuns:
    """Runs rows, each where it is asked for first; use it in a `with`. Threads may share it."""

    def __init__(self):
        self._lines, self._lock, self._process, self._open = {}, threading.Lock(), None, True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def for_submission(self, seconds: float = SECONDS) -> "RowsOfASubmission":
        """What runs the rows of one submission: all that it asks for together within these seconds."""
        return RowsOfASubmission(self, seconds)

    def lines(self, rows: Collection[Row], seconds: float = SECONDS) -> list[dict]:
        """The table's line of each row, in their order. NotRun where one cannot be run, or not within these seconds."""
        return self.timed(rows, seconds)[0]

    def timed(self, rows: Collection[Row], seconds: float) -> tuple[list[dict], float]:
        """Those lines, and how many of the seconds running them has taken. NotRun as `lines`.

        The time that others need who asked before is not counted; what was run in time is kept for who asks next.
        """
        with self._lock:
            begin = time.monotonic()
            for row in sorted(set(rows) - set(self._lines), key=lambda row: (-row.processes, row.key)):
                self._lines[row] = self._ask(row, begin + seconds - time.monotonic())
            return [dict(self._lines[row]) for row in rows], time.monotonic() - begin

    def close(self):
        """End the process and its workers; who waits for it gets NotRun."""
        self._open = False
        self._end()

    def _ask(self, row, seconds):
        if not self._open:
            raise NotRun("the grader was stopped")
        try:
            if self._process is None:
                self._process = OurProcess("autograder.trusted_runs")
            reply = self._process.ask(vars(row), seconds)
        except (NoReply, OSError) as error:
            reply = str(error)
        if isinstance(reply, str):
            self._end()
            raise NotRun(f"{row.label}: {reply}")
        return reply

    def _end(self):
        """End the process and its workers, whatever they do."""
        process, self._process = self._process, None
        if process is not None:
            process.end(PATIENCE)


class RowsOfASubmission:
    """The rows that one submission asks for, in however many cells: `seconds` are for all of them."""

    def __init__(self, runs: TrustedRuns, seconds: float):
        self._runs, self._left = runs, seconds

    def lines(self, rows: Collection[Row]) -> list[dict]:
        """As TrustedRuns.lines, within what is left of the seconds; nothing is left once that was too little."""
        left, self._left = self._left, 0.0
        found, took = self._runs.timed(rows, left)
        self._left = left - took
        return found


def main():
    """Answer each row until the input ends: with its line of the table, or with a text that says why there is none."""
    from course.experiments import trusted_records
    from course.pipeline import PipelineError, close

    rows, reply = lines_to_answer()
    try:
        for row in rows:
            try:
                (line,) = trusted_records(read_plan([row]).rows.values())
            except (PipelineError, OSError, MemoryError) as error:
                line = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            reply(line)
    finally:
        close()


if __name__ == "__main__":
    main()
