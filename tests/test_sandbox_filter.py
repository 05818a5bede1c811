"""The filter of system calls, by running its program: what the kernel would decide for a call."""

import errno
import struct

import pytest

from autograder.sandbox.seccomp import DENIED, MACHINES, filter_program

ALLOWED, KILLED = "allowed", "killed"
NAMES = {0x7FFF0000: ALLOWED, 0x80000000: KILLED}
# read, openat, futex, clone, socket, ioctl, kill, execve, mmap on x86-64 and aarch64; from the kernel's tables
NUMBERS = {"x86_64": {"read": 0, "openat": 257, "futex": 202, "clone": 56, "socket": 41, "socketpair": 53, "ioctl": 16,
                      "kill": 62, "execve": 59, "mmap": 9, "mount": 165, "ptrace": 101},
           "aarch64": {"read": 63, "openat": 56, "futex": 98, "clone": 220, "socket": 198, "socketpair": 199, "ioctl": 29,
                       "kill": 129, "execve": 221, "mmap": 222, "mount": 40, "ptrace": 117}}


def decision(machine, number, *arguments, architecture=None):
    """ALLOWED, KILLED or the error of this call, as the kernel's machine for classic BPF would find it."""
    data = struct.pack("<iIQ6Q", number, architecture or MACHINES[machine][1], 0, *arguments, *[0] * (6 - len(arguments)))
    program, at, held = list(struct.iter_unpack("<HBBI", filter_program(machine))), 0, 0
    tests = {0x15: int.__eq__, 0x35: int.__ge__, 0x45: int.__and__}
    while True:
        code, yes, no, value = program[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return NAMES[value] if value in NAMES else value & 0xFFFF
        else:
            at += yes if tests[code](held, value) else no


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


@pytest.mark.parametrize("name", ["read", "openat", "futex", "kill", "execve", "mmap", "clone", "ioctl"])
def test_ordinary_calls_pass(name, machine):
    assert decision(machine, NUMBERS[machine][name]) == ALLOWED


def test_what_nobody_needs_is_denied(machine):
    for numbers in DENIED.values():
        if (number := numbers[MACHINES[machine][0]]) is not None:
            assert decision(machine, number) == errno.EPERM
    assert {decision(machine, NUMBERS[machine][name]) for name in ("mount", "ptrace")} == {errno.EPERM}


@pytest.mark.parametrize(("name", "arguments", "found"), [
    ("clone", (0x11,), ALLOWED), ("clone", (0x10000011,), errno.EPERM), ("clone", (0x40000011,), errno.EPERM),
    ("socket", (1, 1, 0), ALLOWED), ("socket", (2, 1, 0), ALLOWED), ("socket", (10, 2, 0), ALLOWED),
    ("socket", (16, 3, 0), ALLOWED), ("socket", (16, 3, 12), errno.EAFNOSUPPORT), ("socket", (17, 3, 0), errno.EAFNOSUPPORT),
    ("socket", (38, 5, 0), errno.EAFNOSUPPORT), ("socket", (40, 1, 0), errno.EAFNOSUPPORT),
    ("socketpair", (1, 1, 0), ALLOWED), ("socketpair", (30, 1, 0), errno.EAFNOSUPPORT),
    ("ioctl", (0, 0x5401), ALLOWED), ("ioctl", (0, 0x5412), errno.EPERM), ("ioctl", (0, 0x541C), errno.EPERM),
    ("ioctl", (0, 0x1_0000_5412), errno.EPERM),
])
def test_calls_are_judged_by_their_arguments(name, arguments, found, machine):
    assert decision(machine, NUMBERS[machine][name], *arguments) == found


def test_unknown_calls_and_other_machines(machine):
    assert decision(machine, 435) == decision(machine, 463) == decision(machine, 1000) == errno.ENOSYS
    assert decision(machine, NUMBERS[machine]["read"], architecture=0x40000003) == KILLED
    assert decision(machine, 0x40000000 | NUMBERS[machine]["read"]) == KILLED
