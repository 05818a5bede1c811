"""The fork server: imports once what submissions import, then forks one locked-in worker for each session.

It is started by the grader with a clean environment, holds no test, no solution and no submission, sees no more of the machine
than a session does, and ends with the grader. A request is JSON {"slot": its number} with four descriptors: questions in, answers
out, printed text out, and a socket for the status. There the server says {"forked"} with a pidfd, the worker {"asks"} with the
descriptor where its filter of system calls asks, and {"ok"} or {"error"}, and in the end the server {"code"}: no process of the
session is left then.
"""

import contextlib
import fcntl
import gc
import importlib
import itertools
import json
import os
import platform
import resource
import select
import signal
import socket
import struct
import sys
import time
import traceback
from multiprocessing import resource_tracker
from pathlib import Path

from autograder import worker
from autograder.sandbox import canary, filesystem, linux
from autograder.sandbox.groups import remove
from autograder.sandbox.limits import MESSAGE, SOCKET, Limits
from autograder.sandbox.messages import send_descriptors
from autograder.sandbox.seccomp import filter_program

ENVIRONMENT = {
    "HOME": filesystem.WORK, "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp",
    "PYTHONPATH": str(filesystem.COURSE.parent), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo", "MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp/matplotlib", "NBGRADER_EXECUTION": "autograde"}
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41
PAUSE = 0.05  # seconds after what went wrong, which may come again at once


def main(control: int):
    """Serve until the grader's end of this socket is closed; what to serve comes as JSON on stdin.

    The server is the first process of a pid namespace: with it all sessions end. A normal user gets the rights that it takes
    in a user namespace.
    """
    settings = json.load(sys.stdin)
    # so many descriptors of a user's may be on their way when one more is sent, and what submissions send may count for this user
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with socket.socket(fileno=control) as grader:
        try:
            if any(slot["uid"] is None for slot in settings["slots"]):
                uid, gid = os.getuid(), os.getgid()
                linux.unshare("user", "pid")
                _map_user(uid, uid, gid, gid)
            else:
                linux.unshare("pid")
            if first := os.fork():
                grader.close()
                os._exit(os.waitpid(first, 0)[1] != 0)
            linux.die_with_parent(signal.SIGKILL)
            server = Server(grader, **settings)
        except OSError as error:
            grader.send(json.dumps({"error": str(error)}).encode())
            return
        server.serve()


class Server:
    """`preload` are modules, `slots` {"uid": number or None, "groups": folders}; `show` and `hide` are filesystem's.

    `limits` and `bait` are those of every session.
    """

    def __init__(self, control, preload, slots, show, hide, limits, bait):
        for name in preload:
            with contextlib.suppress(ImportError):  # a submission that imports it learns so itself
                importlib.import_module(name)
        sys.path[:] = ["", *filter(None, sys.path)]
        self._control, self._show, self._limits, self._bait = control, show, Limits(**limits), canary.Bait(**bait)
        self._uids = [slot["uid"] for slot in slots]
        self._groups = [[_Group(folder) for folder in slot["groups"]] for slot in slots]
        self._filter, self._sessions = filter_program(platform.machine()), {}
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY)
        linux.unshare("mnt")
        filesystem.enter(show, hide)  # the server, too, sees no more of the machine than a session does
        gc.collect()
        gc.freeze()
        linux.collapse_memory()

    def serve(self):
        """Answer requests and report the ends of sessions; at last end all of them."""
        self._control.send(b'{"ready": true}')
        while True:
            for descriptor in _tried(self._ready) or ():
                if descriptor != self._control.fileno():
                    _tried(self._report, descriptor)
                elif _tried(self._take) is False:
                    return self._end()

    def _ready(self):
        """Descriptors with news. Each time a new poll, which keeps nothing in the kernel that a session could use up."""
        waiting = select.poll()
        for descriptor in (self._control.fileno(), *self._sessions):
            waiting.register(descriptor, select.POLLIN)
        return [descriptor for descriptor, _ in waiting.poll()]

    def _take(self):
        """Answer one request; False when there will be no more."""
        message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE, 4)
        try:
            if message:
                self._start(json.loads(message)["slot"], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(message)

    def _start(self, slot, descriptors):
        """Fork a session, or say that the machine has no more processes, descriptors or memory to give."""
        with contextlib.ExitStack() as begun:
            status = begun.enter_context(socket.socket(fileno=os.dup(descriptors[-1])))
            try:
                linux.enter_namespace(self._own, "pid")  # a new one can be made only from the own one
                linux.unshare("pid")
                pid = os.fork()
                if pid == 0:
                    try:
                        self._work_inside(slot, descriptors)
                    finally:
                        os._exit(0)
                begun.callback(_end_child, pid)
                handle = os.pidfd_open(pid)
                begun.callback(os.close, handle)
                send_descriptors(status, {"forked": True}, handle)
            except (OSError, MemoryError) as error:
                with contextlib.suppress(OSError):
                    status.send(json.dumps({"error": str(error)}).encode())
                return
            self._sessions[handle] = pid, status
            begun.pop_all()

    def _work_inside(self, slot, descriptors):
        """The first process of a session's pid namespace locks itself in and becomes the worker; all others end with it."""
        status = descriptors[-1]
        try:
            linux.die_with_parent(signal.SIGKILL)
            os.setsid()
            for group in self._groups[slot]:
                os.write(group.members, b"0")
            linux.unshare("mnt", "uts", "ipc", "net", "cgroup")
            _bound_buffers()
            filesystem.renew(self._show, self._limits)
            _loopback_up()
            linux.set_host_name("box")
            status = _arrange(descriptors)
            _become_nobody(self._uids[slot])
            _limit(self._limits)
            linux.drop_capabilities()
            listener = linux.set_filter(self._filter)
            linux.set_dumpable(True)
            linux.die_with_parent(signal.SIGKILL)
            if listener is not None:
                with socket.socket(fileno=os.dup(status)) as told:
                    send_descriptors(told, {"asks": True}, listener)
                os.close(listener)
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._limits.files, self._limits.files))
            _look_like_a_fresh_process()
            if found := canary.breaches(self._bait):
                raise RuntimeError(f"it does not hold: {'; '.join(found)}")
            with socket.socket(fileno=status) as told:
                told.send(b'{"ok": true}')
        except BaseException as error:
            os.write(status, json.dumps({"error": f"{type(error).__name__}: {error}"[:MESSAGE // 4]}).encode())
            return
        worker.main()

    def _report(self, handle):
        pid, status = self._sessions.pop(handle)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(OSError), status:
            status.send(json.dumps({"code": code}).encode())
        os.close(handle)

    def _end(self):
        for handle, (pid, _) in self._sessions.items():
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.waitpid(pid, 0)
        for group in itertools.chain(*self._groups):
            remove([group.name], group.parent)


def _tried(step, *arguments):
    """What it returns; None where it fails, which is told on stderr and costs the others nothing."""
    try:
        return step(*arguments)
    except Exception:
        traceback.print_exc()
        time.sleep(PAUSE)
    return None


class _Group:
    """A control group that is reached by descriptors, from where its folder is no longer seen."""

    def __init__(self, folder):
        self.name = os.path.basename(folder)
        self.parent = os.open(os.path.dirname(folder), os.O_RDONLY | os.O_DIRECTORY)
        self.members = os.open(f"{folder}/cgroup.procs", os.O_WRONLY)


def _map_user(uid_inside, uid, gid_inside, gid):
    """One user and one group of this user namespace; what a change of rights has cleared is set again."""
    linux.set_dumpable(True)  # or its own /proc/self could not be written
    for name, text in {"setgroups": "deny", "uid_map": f"{uid_inside} {uid} 1", "gid_map": f"{gid_inside} {gid} 1"}.items():
        Path("/proc/self", name).write_text(text)


def _become_nobody(uid):
    """A user with no rights, in a user namespace that owns none of the others; without a uid to change to, the same user."""
    if uid is None:
        uid, gid = os.getuid(), os.getgid()
    else:
        gid = uid
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    linux.set_dumpable(True)
    linux.unshare("user")
    _map_user(filesystem.USER, uid, filesystem.USER, gid)


def _end_child(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _bound_buffers():
    """Of TCP in this network namespace, where a socket's buffers would grow by themselves: as those of other sockets."""
    for name, first in (("rmem", 131_072), ("wmem", 16_384)):
        Path(f"/proc/sys/net/ipv4/tcp_{name}").write_text(f"4096 {first} {SOCKET}")


def _loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP_AND_RUNNING))


def _arrange(descriptors):
    """Make these the first descriptors, and close all others; the last one's new number."""
    high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in descriptors]
    for place, number in enumerate(high):
        os.dup2(number, place, inheritable=place < 3)
    os.closerange(len(high), 1 << 16)
    return len(high) - 1


def _limit(limits):
    """All but the open files, of which the worker still sends one."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()  # libraries may be gigabytes
    sizes = {"AS": mapped + limits.memory + (1 << 30), "CPU": limits.cpu_seconds, "FSIZE": limits.file,
             "NPROC": limits.processes, "CORE": 1, "MSGQUEUE": 0, "MEMLOCK": 1 << 16, "SIGPENDING": limits.processes}
    for name, size in sizes.items():  # of CORE only 1 keeps a crash from the program that collects them on the machine
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (size, size))


def _look_like_a_fresh_process():
    tracker = resource_tracker._resource_tracker  # an import has started it, by a descriptor that is closed here
    tracker._fd = tracker._pid = None
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 2, "w"), ("stderr", 2, "w")):
        stream = open(number, mode, 1, "utf-8", "replace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    main(int(sys.argv[1]))
