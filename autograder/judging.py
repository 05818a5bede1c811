"""The checks, in processes of our own with a limit of time and memory: an answer that a check spins on costs its own points.

A line of JSON asks: {"judge": grade_id, "seed": seed}, {"rows": true} or HELLO. Its process then asks back, {"ask": number,
"arguments": wire or null} or {"run": rows}, and gets {"reply": wire} or {"lines": table}; at last it says {"done"}, {"failed"}
or {"stopped"}.
What comes of a learner's side is read there alone.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from inspect import signature
from typing import NamedTuple

from autograder.measured import Allowance, Measured
from autograder.our_process import Ended, NoReply, OurProcess, lines_to_answer
from autograder.trusted_runs import NotRun, TooMany
from course.answers import Raised
from course.checks.outcome import Message, Step
from course.exercises import EXERCISES, judge
from course.plan import Row
from course.plan_rules import read_plan
from course.wire import WireError, from_wire, to_wire

SECONDS, MEMORY = 10.0, 1 << 30  # of one check: seconds of the processor, bytes
PATIENCE, START = 60.0, 120.0  # seconds for a check's own part on a busy machine; for a process to come up
MOST = 24  # rows that are run for a submission; twice as many are read of a value

LONGEST, SAID = 2000, 200  # characters of a message, in which a learner may stand quoted; messages of a check
HELLO = {"hello": True}

Run = Callable[[Sequence[Row]], list[dict]]  # the table's lines of these rows


class Judged(NamedTuple):
    """What a check has said."""

    points: float
    messages: tuple[Message, ...]
    steps: tuple[Step, ...] = ()


class Stopped(Exception):
    """A check used up its computing or its memory at an answer, or that has ended its process; the text says why."""


class CheckFailed(Exception):
    """A check of ours has raised, or this machine did not let it end: no fault of the answer's; the text says what."""


def judged(grade_id: str, answers: Sequence, run: Run, seed: int | None = None) -> Judged:
    """What an exercise's check says of these answers, which are asked only so much; `run` gives what only a run can show.

    CheckFailed where it raises; NotRun and TooMany, which `run` may raise, go through.
    """
    allowance, against = Allowance(), {}
    answers = [Measured(answer, allowance) for answer in answers]
    with _no_fault_of_the_answers():
        named = dict(zip(EXERCISES[grade_id].answers, answers, strict=True))
        if asks_for_runs(grade_id) and isinstance(named["table"].value(), list | dict):
            planned = named["configurations"].value()
            against = {"trusted": run(list(dict.fromkeys([*read_plan(planned).rows.values(), *_rows_in(planned)])))}
        verdict = judge(grade_id, *answers, seed=seed, **against)
    steps = tuple(Step(step.name, float(step.points), float(step.share)) for step in verdict.steps)
    messages = tuple(message._replace(text=message.text[:LONGEST]) for message in verdict.messages[:SAID])
    return Judged(verdict.points, messages, steps)


def asks_for_runs(grade_id: str) -> bool:
    """Whether an exercise's check holds a `table` against a run of our side, of the rows of `configurations`."""
    return "trusted" in signature(EXERCISES[grade_id].check).parameters


def rows(answer) -> list[Row]:
    """The rows that a function without arguments returns, as far as they keep all rules, each once."""
    with _no_fault_of_the_answers():
        return _rows_in(Measured(answer, Allowance()).call())


@contextlib.contextmanager
def _no_fault_of_the_answers():
    try:
        yield
    except (NotRun, TooMany, MemoryError):
        raise
    except Exception as error:
        raise CheckFailed(f"{type(error).__name__}: {error}") from error


def _rows_in(value):
    value = value[:2 * MOST] if isinstance(value, list) else ()
    return _read_each(item for item in value if isinstance(item, dict))


def _read_each(items):
    return list(dict.fromkeys(row for item in items for row in read_plan([item]).rows.values()))


class Judges:
    """The same two questions, each asked in a process that serves one at a time; threads may share it. Use it in a `with`.

    Stopped and CheckFailed say what became of a check, the first where the answer is why; what `run` raises goes through.
    """

    def __init__(self, module: str = "autograder.judging"):
        self._module, self._free, self._all = module, queue.SimpleQueue(), []
        self._lock, self._open = threading.Lock(), True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self._open = False
        for process in list(self._all):
            process.end()

    def judged(self, grade_id: str, answers: Sequence, run: Run, seed: int | None = None) -> Judged:
        """What the check says; `answers` are those of a session."""
        points, messages, steps = self._asked({"judge": grade_id, "seed": seed}, answers, run)
        return Judged(points, tuple(Message(*message) for message in messages), tuple(Step(*step) for step in steps))

    def rows(self, answer) -> list[Row]:
        """The rows that an answer of a session returns."""
        return _read_each(self._asked({"rows": True}, [answer], None))

    def _asked(self, question, answers, run):
        process = self._taken()
        try:
            reply = _conversation(process, question, answers, run)
        except BaseException:  # in the middle of its work it is of no use to the next
            process.end()
            self._all.remove(process)
            raise
        self._free.put(process)
        if "stopped" in reply:
            raise Stopped(reply["stopped"])
        if "failed" in reply:
            raise CheckFailed(reply["failed"])
        return reply["done"]

    def _taken(self):
        with self._lock:
            if not self._open:
                raise CheckFailed("the grader was stopped")
            with contextlib.suppress(queue.Empty):
                return self._free.get_nowait()
            self._all.append(process := OurProcess(self._module))
        try:
            process.ask(HELLO, START)
        except NoReply as error:
            process.end()
            raise CheckFailed(f"its process did not start: {error}") from None
        return process


def _conversation(process, said, answers, run):
    """The last reply, once what it asked back is answered."""
    left = PATIENCE
    while True:
        begin = time.monotonic()
        try:
            reply = process.ask(said, left)
        except NoReply as error:
            theirs = isinstance(error, Ended) and error.by_itself  # by its limit: one that only waits got too little of a machine
            raise (Stopped if theirs else CheckFailed)(
                f"{error}; it has {SECONDS:g} s of computing and {MEMORY >> 20} MiB") from None
        left -= time.monotonic() - begin
        if "ask" in reply:
            said = {"reply": answers[reply["ask"]].wire(reply["arguments"])}
        elif "run" in reply:
            said = {"lines": run(_read_each(reply["run"]))}
        else:
            return reply


class _Asked:
    """In the process: an answer that the grader asks for it."""

    def __init__(self, number, ask):
        self._number, self._ask = number, ask

    def value(self):
        return self._reply(None)

    def call(self, *arguments):
        return self._reply(to_wire(list(arguments)))

    def _reply(self, arguments):
        try:
            return from_wire(self._ask({"ask": self._number, "arguments": arguments})["reply"])
        except WireError as error:
            return Raised("Ended", f"its reply cannot be read: {str(error)[:100]}")


def _limit():
    """So much memory and time for what comes next; the kernel then ends it, also where nobody is left who would."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no `resource`, other systems not all of it
        import resource

        used, (_, most) = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]), resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + SECONDS) + 1, most))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    """Answer questions until there are no more."""
    questions, reply = lines_to_answer()

    def ask(content):
        reply(content)
        return next(questions)

    for question in questions:
        _limit()
        try:
            if question == HELLO:
                found = None
            elif "rows" in question:
                found = [vars(row) for row in rows(_Asked(0, ask))]
            else:
                answers = [_Asked(number, ask) for number in range(len(EXERCISES[question["judge"]].answers))]
                found = judged(question["judge"], answers,
                               lambda wanted: ask({"run": [vars(row) for row in wanted]})["lines"], question["seed"])
            reply({"done": found})
        except MemoryError:
            reply({"stopped": f"it needs more than {MEMORY >> 20} MiB"})
        except CheckFailed as error:
            reply({"failed": str(error)})


if __name__ == "__main__":
    main()
