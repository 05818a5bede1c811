"""The asking side: a learner's cells in a process of their own, asked by name or by call; only plain data comes back."""

import contextlib
import json
import math
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time

from autograder.worker import HEADER, MAX_FRAME, frame_of
from course.answers import Raised
from course.wire import WireError, from_wire, to_wire

MAX_OUTPUT = 100_000  # bytes of printed text that are kept
GRACE = 3.0  # seconds beyond a question's own limit before the process is given up
SOON = 1.0  # seconds for a process to end that sends no more
CHUNK, PAUSE = 1 << 16, 0.01  # what is printed beyond MAX_OUTPUT is read slowly: a flood must not keep the asking side busy

WAITS = hasattr(select, "poll")  # whether one can wait for a pipe and look into it without waiting


def cause(code: int | None) -> str:
    """In brackets, what a process's exit code says about its end: its signal, where it was one."""
    with contextlib.suppress(ValueError, TypeError):
        return f" ({signal.Signals(-code).name})"
    return ""


class PlainProcess:
    """A worker in a plain subprocess, with the descriptors that a session speaks through. It is separation, not a sandbox."""

    def __init__(self):
        pipes = [os.pipe() for _ in range(3)]
        (given, self.requests), (self.replies, taken), (self.output, printed) = pipes
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "autograder.worker"], stdin=given, stdout=taken, stderr=printed, start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NBGRADER_EXECUTION": "autograde"})
        except BaseException:
            for descriptor in (self.requests, self.replies, self.output):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (given, taken, printed):
                os.close(descriptor)

    def kill(self):
        """End the process and its process group."""
        if self._process.returncode is not None:  # waited for: the number may be another's by now
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def wait(self):
        """Return when the killed process has ended."""
        self._process.wait()

    def why(self) -> str:
        """What is known about its end; it has ended, or is about to."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SOON)
        return f"its process has ended{cause(self._process.returncode)}"


class Session:
    """Runs cells in `process` (by default a plain subprocess) and asks it for answers; use it in a `with`.

    `seconds` limits each question, `budget` all of them together; with `computing`, a question may also take no more seconds of
    the processor than that. A process that ends, hangs or sends what is no frame is killed; each later question gives
    Raised("Ended", why).
    """

    def __init__(self, seconds: float = 5.0, budget: float = math.inf, computing: float | None = None, process=None):
        self._process = process or PlainProcess()
        self._limits = {"seconds": seconds} if computing is None else {"seconds": seconds, "computing": computing}
        self._patience, self._budget, self._until = seconds + GRACE, budget, time.monotonic() + budget
        self._count, self.ended, self._printed = 0, None, bytearray()
        self._requests, self._frames = queue.SimpleQueue(), queue.Queue()
        self._listening, self._heard, self._told = threading.Lock(), False, 0
        if WAITS:
            os.set_blocking(self._process.output, False)
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._write, self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, source: str):
        """Run one cell: None, or Raised with what it raised."""
        text = self._ask({"run": source})
        if isinstance(text, Raised):
            return text
        with contextlib.suppress(ValueError, RecursionError):
            match json.loads(text):  # the two replies that there are, and nothing else is made of it
                case None:
                    return None
                case {"raised": [str(kind), str(said)]}:
                    return Raised(kind, said)
        return self._end("it says of a cell what no cell gives")

    def answer(self, name: str) -> "RemoteAnswer":
        """The answer that this name holds on the learner's side."""
        return RemoteAnswer(self, name)

    def extend(self, seconds: float):
        """Give back time that the asking side has used for itself."""
        self._until += seconds

    @property
    def output(self) -> str:
        """What the cells have printed, by any process of theirs, cut at MAX_OUTPUT; complete once the session is closed."""
        return self._printed.decode(errors="replace")

    def new_output(self) -> str:
        """What was printed since this was asked last, up to now: what a cell has printed before its reply is in it.

        Only what comes decides that, never what stands in it. (Without `select.poll`, on Windows, the last of it may come later.)
        """
        if WAITS:
            while len(self._printed) < MAX_OUTPUT and self._take():
                pass
        text = self._printed[self._told:]
        self._told += len(text)
        return text.decode(errors="replace")

    def close(self):
        """End the process and what it has started, whatever they are doing."""
        self.ended = self.ended or "it was closed"
        self._process.kill()
        self._process.wait()
        self._requests.put(None)
        for thread in self._threads:
            thread.join(GRACE)  # of a plain process something may be left that holds a pipe

    def _write(self):
        with contextlib.suppress(OSError), open(self._process.requests, "wb", buffering=0) as pipe:
            while (frame := self._requests.get()) is not None:
                while frame:
                    frame = frame[pipe.write(frame):]

    def _read(self):
        """Put each frame on the queue; anything else ends the reading with its reason."""
        with open(self._process.replies, "rb") as pipe:
            self._frames.put(self._read_frames(pipe))

    def _read_frames(self, pipe):
        with contextlib.suppress(OSError):
            while len(header := pipe.read(HEADER.size)) == HEADER.size:
                (size,) = HEADER.unpack(header)
                if size > MAX_FRAME:
                    return f"its answer has {size} bytes, more than {MAX_FRAME}"
                if self._frames.qsize() > 1:
                    return "it answers what was not asked"
                self._frames.put(pipe.read(size))
        return self._process.why()

    def _listen(self):
        if WAITS:
            waiting = select.poll()
            waiting.register(self._process.output, select.POLLIN)
        with contextlib.suppress(OSError):
            while not WAITS or waiting.poll():
                if self._take() == b"":
                    break
                if len(self._printed) >= MAX_OUTPUT:
                    time.sleep(PAUSE)
        with self._listening:
            self._heard = True
            os.close(self._process.output)

    def _take(self):
        """Read once from what was printed: empty at its end, None where there is nothing now."""
        with self._listening, contextlib.suppress(BlockingIOError):
            text = b"" if self._heard else os.read(self._process.output, CHUNK)
            self._printed += text[:MAX_OUTPUT - len(self._printed)]
            return text
        return None

    def _ask(self, request) -> str | Raised:
        """The text of the reply, in which nothing is looked at."""
        left = self._until - time.monotonic()
        if self.ended:
            return Raised("Ended", self.ended)
        self._count += 1
        limit = max(0, min(self._patience, left))
        self._requests.put(frame_of({**request, "id": self._count, **self._limits}))
        try:
            frame = self._frames.get(timeout=limit)
        except queue.Empty:
            used_up = f"its {self._budget:g} s for everything are used up"
            return self._end(f"no answer within {limit:g} s" if limit < left else used_up)
        if isinstance(frame, str):
            return self._end(frame)
        try:
            reply = json.loads(frame)
            if type(reply) is not dict or reply.get("id") != self._count or type(reply.get("answer")) is not str:
                raise WireError("not a reply to the question")
            return reply["answer"]
        except (ValueError, RecursionError) as error:
            return self._unreadable(error)

    def _unreadable(self, error):
        return self._end(f"its reply cannot be read: {str(error)[:100]}")

    def _end(self, reason):
        self.ended = reason
        self._process.kill()
        return Raised("Ended", reason)


class RemoteAnswer:
    """An answer on the learner's side of a session: the same questions as LocalAnswer."""

    def __init__(self, session: Session, name: str):
        self._session, self._name = session, name

    def value(self):
        """The answer as plain data, or Raised."""
        return self._read(self._asked())

    def call(self, *arguments):
        """What the answer returns for these arguments, as plain data, or Raised."""
        return self._read(self._asked(to_wire(list(arguments))))

    def wire(self, arguments: str | None = None) -> str:
        """The same, of these arguments or without any of the value, as the text that came: who reads it may pay for it."""
        found = self._asked(arguments)
        return found if isinstance(found, str) else to_wire(found)

    def _asked(self, arguments=None):
        return self._session._ask({"value": self._name} if arguments is None else {"call": self._name, "arguments": arguments})

    def _read(self, found):
        try:
            return from_wire(found) if isinstance(found, str) else found
        except WireError as error:
            return self._session._unreadable(error)
