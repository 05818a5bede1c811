"""A process of our own that answers lines of JSON with lines of JSON, and is ended when it does not."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading

SOON = 1.0  # seconds for a process to end that has closed its output


class NoReply(Exception):
    """No reply came; the text says why."""


class Ended(NoReply):
    """None came, and none will: its process has ended. `by_itself`: nobody has killed it from outside."""

    def __init__(self, by_itself: bool):
        super().__init__("its process has ended")
        self.by_itself = by_itself


KILLED = {-getattr(signal, name) for name in ("SIGKILL", "SIGTERM") if hasattr(signal, name)}  # the system's want of memory, too


class OurProcess:
    """Runs `python -m module`, whose standard input and output are the two ends of a conversation."""

    def __init__(self, module: str):
        self._process = subprocess.Popen(
            [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        self._replies = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._replies), daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether it is no more."""
        return self._process.poll() is not None

    def ask(self, content, seconds: float):
        """Send plain data and return the reply. NoReply where none comes within so many seconds, Ended where none can come."""
        try:
            self._process.stdin.write(json.dumps(content, default=float) + "\n")
            self._process.stdin.flush()
            reply = self._replies.get(timeout=max(0.0, seconds))
        except (OSError, ValueError):  # a pipe that is closed on its other end, or on ours
            reply = ""
        except queue.Empty:
            raise NoReply("its time was used up") from None
        if not reply:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SOON)
            raise Ended(self._process.returncode not in KILLED)
        return json.loads(reply)

    def end(self, patience: float = 0.0):
        """End it with all that it has started, whatever they do; so many seconds it has to do so itself."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=patience)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _listen(pipe, replies):
    with pipe, contextlib.suppress(ValueError):  # a line that is cut off in the middle of a character
        for line in pipe:
            replies.put(line)
    replies.put("")


def lines_to_answer():
    """(what is asked, line after line; a function that replies), for a module that an OurProcess runs.

    What is printed elsewhere goes to stderr, never between the replies; Ctrl-C is for the one who asks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies, sys.stdout = sys.stdout, sys.stderr
    return map(json.loads, iter(sys.stdin.readline, "")), lambda reply: print(
        json.dumps(reply, default=float), file=replies, flush=True)
