"""The asking side: a learner's cells in a process of their own, asked by name or by call; only plain data comes back."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading

from autograder.worker import HEADER, write_frame
from course.answers import Raised
from course.wire import WireError, from_wire, to_wire

MAX_FRAME = 32 << 20
GRACE = 3.0  # seconds beyond a call's own limit before the process is given up


class Session:
    """A plain subprocess that runs cells; use it in a `with`. It is separation, not a sandbox.

    A process that ends, hangs or sends what is no frame is killed; each later question gives Raised("Ended", why).
    """

    def __init__(self, seconds: float = 5.0):
        self._seconds, self._count, self._ended = seconds, 0, None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        self._frames = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, source: str):
        """Run one cell: None, or Raised with what it raised."""
        return self._ask({"run": source})

    def answer(self, name: str) -> "RemoteAnswer":
        """The answer that this name holds on the learner's side."""
        return RemoteAnswer(self, name)

    def close(self):
        """End the process and what it has started, whatever they are doing."""
        self._kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self):
        """Put each frame on the queue; anything else ends the reading with its reason."""
        pipe = self._process.stdout
        try:
            while len(header := pipe.read(HEADER.size)) == HEADER.size:
                (size,) = HEADER.unpack(header)
                if size > MAX_FRAME:
                    self._frames.put(f"its answer has {size} bytes, more than {MAX_FRAME}")
                    return
                self._frames.put(pipe.read(size))
        except (OSError, ValueError):
            pass
        self._frames.put("its process has ended")

    def _ask(self, request):
        if self._ended:
            return Raised("Ended", self._ended)
        self._count += 1
        try:
            write_frame(self._process.stdin, {**request, "id": self._count, "seconds": self._seconds})
            frame = self._frames.get(timeout=self._seconds + GRACE)
        except OSError:
            return self._end("its process has ended")
        except queue.Empty:
            return self._end(f"no answer within {self._seconds + GRACE:g} s")
        if isinstance(frame, str):
            return self._end(frame)
        try:
            reply = json.loads(frame)
            if type(reply) is not dict or reply.get("id") != self._count or type(reply.get("answer")) is not str:
                raise WireError("not a reply to the question")
            return from_wire(reply["answer"])
        except (ValueError, RecursionError) as error:
            return self._end(f"its reply cannot be read: {str(error)[:100]}")

    def _kill(self):
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _end(self, reason):
        self._ended = reason
        self._kill()
        return Raised("Ended", reason)


class RemoteAnswer:
    """An answer on the learner's side of a session: the same questions as LocalAnswer."""

    def __init__(self, session: Session, name: str):
        self._session, self._name = session, name

    def value(self):
        """The answer as plain data, or Raised."""
        return self._session._ask({"value": self._name})

    def call(self, *arguments):
        """What the answer returns for these arguments, as plain data, or Raised."""
        return self._session._ask({"call": self._name, "arguments": to_wire(list(arguments))})
