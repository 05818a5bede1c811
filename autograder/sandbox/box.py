"""The grader's side of the sandbox: starts the fork server and hands out sessions, one at a time in each slot."""

import contextlib
import dataclasses
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from autograder.sandbox import canary, filesystem, linux
from autograder.sandbox.failure import SandboxFailed, explained, require_linux, require_more_than_a_bare_root
from autograder.sandbox.limits import MESSAGE, Limits
from autograder.session import Session

FIRST_UID = 59_000  # that of the first slot, where root grades: a range that distributions leave free
START_SECONDS, SETUP_SECONDS, END_SECONDS = 180, 60, 60  # guards against hangs, no measurements


class Boxed:
    """One worker inside: the descriptors that a session speaks through; killed as a whole, with all that it has started."""

    def __init__(self, pipes, status, handle, pid, release):
        self.requests, self.replies, self.output = pipes
        self.pid, self._status, self._handle, self._release = pid, status, handle, release
        self._lock = threading.Lock()

    def kill(self):
        """End every process inside."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self):
        """Return when no process is left inside, and give the slot back."""
        with self._lock:
            if self._handle is None:
                return
            try:
                self._status.settimeout(END_SECONDS)
                self._status.recv(1)
            finally:
                self._status.close()
                os.close(self._handle)
                self._handle = None
                self._release()


class Sandbox:
    """A fork server and its slots; thread-safe. Use it in a `with`."""

    def __init__(self, slots: int, hidden: tuple, limits: Limits):
        self._limits, self._slots = limits, queue.SimpleQueue()
        self._show, self._hide = filesystem.shown(), filesystem.hidden(hidden)
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as begun:
            self._bait = begun.enter_context(_bait(filesystem.out_of_sight(self._show, self._hide)))
            self._uids = uids(slots)
            require_more_than_a_bare_root(None not in self._uids)
            for uid in self._uids:
                self._slots.put(uid)
            self._control = begun.enter_context(_server())
            self._stack = begun.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def session(self, seconds: float = 5.0, budget: float = 120.0) -> Session:
        """A session in the next free slot; its process has shown that it is locked in. SandboxFailed if it is not."""
        uid = self._slots.get()
        try:
            boxed = self._start(uid)
        except BaseException:
            self._slots.put(uid)
            raise
        return Session(seconds, budget, boxed)

    def describe(self) -> str:
        """What holds."""
        return f"uid {self._uids}"

    def close(self):
        """End the server and every session."""
        self._stack.close()

    def _start(self, uid):
        pipes = [os.pipe() for _ in range(3)]
        (given, requests), (replies, taken), (output, printed) = pipes
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        job = {"uid": uid, "groups": [], "show": self._show, "hide": self._hide, "limits": dataclasses.asdict(self._limits),
               "bait": dataclasses.asdict(self._bait)}
        try:
            socket.send_fds(self._control, [json.dumps(job).encode()], [given, taken, printed, theirs.fileno()])
        finally:
            for descriptor in (given, taken, printed):
                os.close(descriptor)
            theirs.close()
        mine.settimeout(SETUP_SECONDS)
        message, handles, _, _ = socket.recv_fds(mine, MESSAGE, 1)
        said = json.loads(message or b'{"error": "its launcher ended while it was set up"}')
        if "error" in said:
            for descriptor in (requests, replies, output):
                os.close(descriptor)
            mine.close()
            raise explained(said["error"])
        return Boxed((requests, replies, output), mine, handles[0], said["pid"], lambda: self._slots.put(uid))


class Unsandboxed:
    """What Sandbox offers, with plain subprocesses: separation only, for submissions of people who are trusted."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def session(self, seconds: float = 5.0, budget: float = 120.0) -> Session:
        """A session in a plain subprocess."""
        return Session(seconds, budget)

    def describe(self) -> str:
        """What holds."""
        return "no sandbox: submissions run as the user who grades, with all that this user can do"

    def close(self):
        """Nothing is kept open."""


def uids(slots: int) -> list[int | None]:
    """A uid for each slot where this process may change to one, else None: the grader's own, in a user namespace."""
    if os.geteuid() != 0:
        return [None] * slots
    found = [FIRST_UID + slot for slot in range(slots)]
    ranges = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    mapped = all(any(start <= uid < start + count for start, _, count in ranges) for uid in found)
    held = int(linux.own_status()["CapEff"], 16)
    return found if mapped and all(held >> bit & 1 for bit in linux.TO_CHANGE_USER.values()) else [None] * slots


@contextlib.contextmanager
def _bait(hidden):
    """A secret that must stay one, and a listener that nobody must reach."""
    with tempfile.TemporaryDirectory(prefix="grading-") as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        secret = Path(folder, "secret")
        secret.write_text("a secret\n")
        yield canary.Bait(str(secret), tuple(hidden), listener.getsockname(), os.getpid(), canary.namespaces())


@contextlib.contextmanager
def _server():
    """The socket to a new fork server that has imported all it will."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, theirs:
        environment = {"PATH": os.defpath, "HOME": os.path.expanduser("~"), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                       "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg",
                       "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
        process = subprocess.Popen([sys.executable, "-m", "autograder.sandbox.server", str(theirs.fileno())],
                                   pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL,
                                   cwd="/", start_new_session=True)
        theirs.close()
        try:
            mine.settimeout(START_SECONDS)
            if mine.recv(64) != b"ready":
                raise SandboxFailed("the fork server did not start", "see the message above")
            mine.settimeout(None)
            yield mine
        finally:
            mine.close()
            process.wait(END_SECONDS)


def open_sandbox(slots: int = 1, hidden=(), limits: Limits = Limits()) -> Sandbox:  # noqa: B008
    """A sandbox that has proved itself in each slot. `hidden` are files and folders that no submission may see.

    SandboxFailed where it does not hold.
    """
    require_linux()
    box = Sandbox(slots, tuple(hidden), limits)
    try:
        for _ in range(slots):
            box.session().close()
    except BaseException:
        box.close()
        raise
    return box
