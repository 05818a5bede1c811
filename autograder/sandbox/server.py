"""The fork server: imports once what submissions import, then forks one locked-in worker for each request.

It is started by the grader with a clean environment, holds no test, no solution and no submission, and ends with the grader.
A request is a JSON text with four descriptors (questions in, answers out, printed text out, a socket for the status), on a
socket of packets. On the status socket the launcher says {"ok": true} and hands over a pidfd, or says {"error": text}; its end
of file means that no process of the worker's is left.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import platform
import resource
import signal
import socket
import struct
import sys
from pathlib import Path

from autograder import worker
from autograder.sandbox import canary, filesystem, linux
from autograder.sandbox.groups import remove
from autograder.sandbox.limits import MESSAGE, Limits
from autograder.sandbox.seccomp import filter_program

PRELOADED = ("torch", "torch._dynamo", "torch.distributed", "torch.optim", "numpy", "pandas", "matplotlib.pyplot", "cloudpickle",
             "course.notebook", "course.experiments", "course.hand_in", "course.pipeline", "course.lessons.experiment_table",
             "course.lessons.layouts", "course.lessons.cards", "course.lessons.chunk_runs", "course.lessons.bubble")
ENVIRONMENT = {
    "HOME": filesystem.WORK, "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp",
    "PYTHONPATH": str(filesystem.COURSE.parent), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo", "MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp/matplotlib"}
READY = 3  # the descriptor on which the first process and the worker say how their setting-up went
BY_SIGNAL = 128  # and the signal: the exit code, as in a shell, for the worker's end by it
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def main(control: int, groups: list[str]):
    """Serve until the grader's end of this socket is closed, then remove these control groups."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):  # a submission that imports it learns so itself
            importlib.import_module(name)
    sys.path[:] = ["", *filter(None, sys.path)]
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=control) as server:
        server.send(b"ready")
        while (packet := socket.recv_fds(server, MESSAGE, 4))[0]:
            message, descriptors, _, _ = packet
            if os.fork() == 0:
                try:
                    server.close()
                    _launch(json.loads(message), *descriptors)
                finally:
                    os._exit(1)
            for descriptor in descriptors:
                os.close(descriptor)
    remove(groups)


def _launch(job, requests, replies, output, status):
    """In a child of the server, still outside: make the namespaces, start the first process in them, wait for its end."""
    with socket.socket(fileno=status) as told:
        try:
            linux.die_with_parent(signal.SIGKILL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for group in job["groups"]:
                Path(group, "cgroup.procs").write_text(str(os.getpid()))
            _new_namespaces(job["uid"])
            heard, ready = os.pipe()
            first = os.fork()
            if first == 0:
                told.close()
                os.close(heard)
                _first(job, requests, replies, output, ready)
            for descriptor in (ready, requests, replies, output):
                os.close(descriptor)
            with open(heard) as pipe:
                said = pipe.read() or "its first process ended while it was set up"
            if said == "ok":
                handle = os.pidfd_open(first)
                socket.send_fds(told, [json.dumps({"pid": first}).encode()], [handle])
                os.close(handle)
                code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
                told.send(json.dumps({"code": BY_SIGNAL - code if code > BY_SIGNAL else code}).encode())
                return
        except OSError as error:
            said = str(error)
        told.send(json.dumps({"error": said[:MESSAGE // 2]}).encode())


def _new_namespaces(uid):
    """With a uid to change to, the user namespace comes later, after the mounts that only root can make."""
    others = [name for name in linux.NAMESPACES if name != "user"]
    if uid is not None:
        linux.unshare(*others)
        return
    before = os.getuid(), os.getgid()
    linux.unshare("user", *others)
    _settle_in_user_namespace(*before)


def _settle_in_user_namespace(uid, gid):
    """One user and one group, with ids of their own; what a change of rights has cleared is set again."""
    linux.set_dumpable(True)  # or its own /proc/self could not be written
    linux.die_with_parent(signal.SIGKILL)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{filesystem.USER} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{filesystem.USER} {gid} 1")


def _first(job, requests, replies, output, ready):
    """The first process of the pid namespace: locks itself in, starts the worker, reaps, and ends with it and all others."""
    try:
        limits, uid, program = Limits(**job["limits"]), job["uid"], filter_program(platform.machine())
        linux.die_with_parent(signal.SIGKILL)
        filesystem.enter(job["show"], job["hide"], limits)
        _loopback_up()
        linux.set_host_name("box")
        ready = _arrange(requests, replies, output, ready)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            linux.set_dumpable(True)
            linux.unshare("user")
            _settle_in_user_namespace(uid, uid)
        _limit(limits)
        linux.drop_capabilities()
        linux.set_filter(program)
        child = os.fork()
        if child == 0:
            _work(canary.Bait(**job["bait"]))
        linux.set_dumpable(False)
        os.closerange(0, READY + 1)
        while (ended := os.wait())[0] != child:
            pass
        code = os.waitstatus_to_exitcode(ended[1])
        os._exit(code if code >= 0 else BY_SIGNAL - code)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(ready, f"{type(error).__name__}: {error}".encode())
    os._exit(0)


def _loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP_AND_RUNNING))


def _arrange(*descriptors):
    """Make these the descriptors 0 to READY, and close all others; the last one's new number."""
    high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10) for number in descriptors]
    for place, number in enumerate(high):
        os.dup2(number, place, inheritable=place < READY)
    os.closerange(READY + 1, 1 << 16)
    return READY


def _limit(limits):
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()  # libraries may be gigabytes
    sizes = {"AS": mapped + limits.memory + (1 << 30), "CPU": limits.cpu_seconds, "FSIZE": limits.file, "NOFILE": limits.files,
             "NPROC": limits.processes, "CORE": 0, "MSGQUEUE": 0, "MEMLOCK": 1 << 16}
    for name, size in sizes.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (size, size))


def _work(bait):
    """The worker of a session, once nothing of what must not be possible is."""
    linux.set_dumpable(True)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 2, "w"), ("stderr", 2, "w")):
        stream = open(number, mode, 1, "utf-8", "replace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    if found := canary.breaches(bait):
        raise RuntimeError(f"the sandbox does not hold: {'; '.join(found)}")
    os.write(READY, b"ok")
    os.close(READY)
    try:
        worker.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
