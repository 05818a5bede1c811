"""What must fail inside a sandbox, tried there before any code of a stranger's runs."""

import os
import socket
import sys
from dataclasses import dataclass

from autograder.sandbox import linux

KINDS = ("user", "pid", "net", "mnt", "ipc", "uts")


@dataclass(frozen=True)
class Bait:
    """A file with a secret, a listener (host, port), a process and its namespaces: all the grader's, all out of reach inside."""

    secret: str
    hidden: tuple[str, ...]
    address: tuple[str, int]
    process: int
    namespaces: dict[str, str]


def namespaces() -> dict[str, str]:
    """The namespaces of this process by kind."""
    return {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in KINDS}


def breaches(bait: Bait) -> list[str]:
    """What does not hold in this process, in words; nothing when all holds."""
    status = linux.own_status()
    mine = namespaces()
    found = {
        "it can read a file of the grader's": _readable(bait.secret),
        "it reaches a listener of the grader's": _works(_connect, bait.address),
        "it can signal the grader": _works(os.kill, bait.process, 0) and mine["pid"] == bait.namespaces["pid"],
        "it is root": os.getuid() == 0 or os.geteuid() == 0,
        "it has capabilities": any(int(status[kind], 16) for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")),
        "it could gain privileges": status["NoNewPrivs"] != "1",
        "no filter of system calls is on": status["Seccomp"] != "2",
        "it holds more descriptors than own": len(_descriptors()) > 4,
    }
    found |= {f"it can write to {folder}": _works(_write, folder) for folder in ("/", "/usr", sys.prefix, "/etc")}
    found["it can write settings of the kernel"] = _works(_open_to_write, "/proc/sys/kernel/core_pattern")
    found |= {f"it sees {path}": _readable(path) for path in bait.hidden}
    found |= {f"its {kind} namespace is the grader's": mine[kind] == bait.namespaces[kind] for kind in KINDS}
    return [name for name, holds in found.items() if holds]


def _works(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        return False
    return True


def _open_to_write(path):
    os.close(os.open(path, os.O_WRONLY))


def _connect(address):
    socket.create_connection(address, timeout=1).close()


def _write(folder):
    path = os.path.join(folder, f"canary-{os.getpid()}")
    with open(path, "x"):
        os.remove(path)


def _readable(path):
    """A covered file can be there, empty."""
    if os.path.isdir(path):
        return bool(os.listdir(path))
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False


def _descriptors():
    kept = []
    for number in range(1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        kept.append(number)
    return kept
