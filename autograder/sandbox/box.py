"""The grader's side of the sandbox: starts the fork server and hands out sessions, one at a time in each slot."""

import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.sandbox import canary, filesystem, linux
from autograder.sandbox.failure import SandboxFailed, explained, require_linux, require_more_than_a_bare_root
from autograder.sandbox.folders import SECRET, bait_folder
from autograder.sandbox.groups import make, remove, room
from autograder.sandbox.limits import LEAST, MESSAGE, Limits, room_of_user
from autograder.sandbox.messages import send_descriptors
from autograder.sandbox.slots import END_SECONDS, Boxed, Slot, Slots, readable
from autograder.sandbox.watchdog import PERIOD, Watchdog
from autograder.session import SOON, Session, cause

PRELOADED = ("torch", "torch._dynamo", "torch.distributed", "torch.optim", "numpy", "pandas", "matplotlib.pyplot", "cloudpickle",
             "course.notebook", "course.experiments", "course.hand_in", "course.pipeline", "course.lessons.experiment_table",
             "course.lessons.layouts", "course.lessons.cards", "course.lessons.chunk_runs", "course.lessons.bubble")
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", "NBGRADER_EXECUTION": "autograde"}
FIRST_UID = 59_000  # that of the first slot, where root grades: a range that distributions leave free
GONE = "the fork server has ended"
START_SECONDS, SETUP_SECONDS = 180, 60  # guards against hangs, no measurements
LAST_WORDS = 500  # characters of what the fork server has said


class Sandbox:
    """A fork server and its slots; thread-safe. Use it in a `with`."""

    def __init__(self, slots: int, hidden: tuple, limits: Limits, preload: tuple):
        self._watchdog = None
        limits = self._limits = in_the_room_there_is(limits, slots)
        show, hide = filesystem.shown(), filesystem.hidden(hidden)
        with contextlib.ExitStack() as begun:
            bait = begun.enter_context(_bait(filesystem.out_of_sight(show, hide)))
            groups = [make(limits) for _ in range(slots)]
            begun.callback(remove, [folder for folders in groups for folder in folders])
            self._slots = Slots([Slot(uid, tuple(folders)) for uid, folders in zip(uids(slots), groups, strict=True)])
            require_more_than_a_bare_root(all(slot.uid is not None for slot in self._slots.all))
            if not all(groups):
                self._watchdog = begun.enter_context(contextlib.closing(Watchdog(limits.memory)))
            self._control, self._said = begun.enter_context(_server(
                preload=preload, slots=[dataclasses.asdict(slot) for slot in self._slots.all], show=show, hide=hide,
                limits=dataclasses.asdict(limits), bait=dataclasses.asdict(bait)))
            self._stack = begun.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def session(self, seconds: float = 20.0, budget: float = 120.0, computing: float = 5.0) -> Session:
        """A session in the next free slot; its process has shown that it is locked in. SandboxFailed if it is not."""
        slot = self._slots.take()
        try:
            boxed = self._start(slot)
        except BaseException:
            self._slots.give_back(slot)
            raise
        return Session(seconds, budget, computing, boxed)

    def describe(self) -> str:
        """What holds."""
        users = ", ".join("a user of a namespace's own" if slot.uid is None else str(slot.uid)
                          for slot in self._slots.all)
        held = f"watched every {PERIOD * 1000:.0f} ms" if self._watchdog else "held by control groups"
        return (f"Submissions run as user {users}; in user, pid, network, mount, ipc, uts and cgroup namespaces of their own, "
                "without capabilities, behind a filter of system calls; "
                f"{self._limits.memory >> 20} MiB of memory and {self._limits.processes} processes for each as a whole, {held}.")

    def require(self):
        """SandboxFailed once the server has ended, by whatever did that: its sessions then ended without a fault of theirs."""
        if readable(self._control, 0):
            raise self._gone()

    def _gone(self):
        """The server's end, with its last words."""
        with contextlib.suppress(OSError, ValueError):  # it is closed already
            said = os.pread(self._said.fileno(), 1 << 20, 0).decode(errors="replace").strip()
            if said:
                return SandboxFailed(f"{GONE}, and its last words were: {said[-LAST_WORDS:]}",
                                     "start again, and see what `python -m autograder selftest` says")
        return SandboxFailed(f"{GONE} without a word, so something has killed it",
                             "start again; where memory was short (`dmesg` then names it), with fewer `--jobs`")

    def close(self):
        """End the server and every session."""
        self._stack.close()

    def _start(self, slot):
        pipes = [os.pipe() for _ in range(3)]
        (given, requests), (replies, taken), (output, printed) = pipes
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as unused:
            unused.enter_context(mine)
            for descriptor in (requests, replies, output):
                unused.callback(os.close, descriptor)
            try:
                send_descriptors(self._control, {"slot": self._slots.all.index(slot)}, given, taken, printed, theirs.fileno())
            except BrokenPipeError:
                raise self._gone() from None
            finally:
                theirs.close()
                for descriptor in (given, taken, printed):
                    os.close(descriptor)
            mine.settimeout(SETUP_SECONDS)
            handles = self._told(mine, unused)
            unused.pop_all()
        boxed = Boxed((requests, replies, output), mine, handles["forked"], handles.get("asks"), slot, self._slots,
                      self._watchdog.forget if self._watchdog else lambda _: None)
        if not slot.groups:
            self._watchdog.watch(slot, linux.pid_of(handles["forked"]), boxed.kill)
        return boxed

    def _told(self, status, unused):
        """What server and worker say until the worker has proved itself; descriptors, by what was said with them."""
        said, handles = {}, {}
        while not {"forked", "ok"} <= set(said):
            message, came, _, _ = socket.recv_fds(status, MESSAGE, 1)
            for handle in came:
                unused.callback(os.close, handle)
            if not message:
                raise self._gone() if readable(self._control, SOON) else explained("the fork server could not begin a session")
            news = json.loads(message)
            handles |= dict.fromkeys(news, *came) if came else {}
            said |= news
            if "error" in said or "code" in said:
                raise explained(said.get("error", f"the worker ended while it was set up{cause(said.get('code'))}"))
        return handles


class Unsandboxed:
    """What Sandbox offers, with plain subprocesses: separation only, for submissions of people who are trusted."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def session(self, seconds: float = 20.0, budget: float = 120.0, computing: float = 5.0) -> Session:
        """A session in a plain subprocess."""
        return Session(seconds, budget, computing)

    def describe(self) -> str:
        """What holds."""
        return "no sandbox: submissions run as the user who grades, with all that this user can do"

    def require(self):
        """It cannot end."""

    def close(self):
        """Nothing is kept open."""


def in_the_room_there_is(limits: Limits, slots: int) -> Limits:
    """The limits of each of so many slots. SandboxFailed where that would be too few processes."""
    rooms = {"more processes by `ulimit -u`": room_of_user()} if None in uids(slots) else {}
    fewest, group = room()
    rooms[f"a higher {group}/pids.max (of a container `--pids-limit`, of a service TasksMax)"] = fewest
    more = min(rooms, key=rooms.get)
    found = limits.shared(slots, rooms[more])
    if found.processes < LEAST:
        raise SandboxFailed(f"only {rooms[more]:g} more processes may be started here, too few for {slots} submissions at a time",
                            f"fewer `--jobs`, or {more}")
    return found


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
    with bait_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        yield canary.Bait(str(folder / SECRET), tuple(hidden), listener.getsockname(), os.getpid(), canary.namespaces())


@contextlib.contextmanager
def _server(**settings):
    """The socket to a new fork server that has imported all it will and ends with this socket."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, theirs, tempfile.TemporaryFile("w+") as said:
        environment = {**ENVIRONMENT, "HOME": os.path.expanduser("~"),
                       "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
        process = subprocess.Popen([sys.executable, "-m", "autograder.sandbox.server", str(theirs.fileno())],
                                   pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.PIPE, stdout=said,
                                   stderr=said, cwd="/", start_new_session=True, text=True)
        theirs.close()
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin:
                json.dump(settings, process.stdin)
            mine.settimeout(START_SECONDS)
            reply = json.loads(mine.recv(MESSAGE) or "{}")
            if "ready" not in reply:
                said.seek(0)
                raise explained(reply.get("error", f"the fork server did not start: {said.read()[-500:].strip()}"))
            mine.settimeout(None)
            yield mine, said
        finally:
            mine.close()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def open_sandbox(slots: int = 1, hidden=(), limits: Limits | None = None, preload=PRELOADED) -> Sandbox:
    """A sandbox that has proved itself in each slot. `hidden` are files and folders that no submission may see, `preload`
    modules that a submission then finds imported. SandboxFailed where it does not hold.
    """
    require_linux()
    try:
        box = Sandbox(slots, tuple(hidden), limits or Limits(), tuple(preload))
    except OSError as error:
        raise SandboxFailed(f"a file, a socket or a process that it needs cannot be had here ({error})",
                            f"room in {os.environ.get('TMPDIR', '/tmp')}, or TMPDIR as the name of another folder") from None
    try:
        for _ in range(slots):
            box.session().close()
    except BaseException:
        box.close()
        raise
    return box
