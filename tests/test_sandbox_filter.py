"""The filter of system calls, by running its program: what the kernel would decide for a call."""

import errno
import struct

import pytest

from autograder.sandbox.seccomp import DENIED, MACHINES, filter_program

ALLOWED, KILLED, ASKED, IGNORED = "allowed", "killed", "asked", 0
NAMES = {0x7FFF0000: ALLOWED, 0x80000000: KILLED, 0x7FC00000: ASKED}
# on x86-64 and aarch64; from the kernel's tables
NUMBERS = {"x86_64": {"read": 0, "openat": 257, "futex": 202, "clone": 56, "socket": 41, "socketpair": 53, "ioctl": 16,
                      "kill": 62, "execve": 59, "mmap": 9, "mount": 165, "ptrace": 101, "flock": 73, "fcntl": 72,
                      "setsockopt": 54, "epoll_ctl": 233, "prctl": 157,
                      "sync": 162, "syncfs": 306, "io_setup": 206, "inotify_init1": 294},
           "aarch64": {"read": 63, "openat": 56, "futex": 98, "clone": 220, "socket": 198, "socketpair": 199, "ioctl": 29,
                       "kill": 129, "execve": 221, "mmap": 222, "mount": 40, "ptrace": 117, "flock": 32, "fcntl": 25,
                       "setsockopt": 208, "epoll_ctl": 21, "prctl": 167,
                       "sync": 81, "syncfs": 267, "io_setup": 0, "inotify_init1": 26}}


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
        elif code == 0x54:
            held &= value
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
    named = ("mount", "ptrace", "io_setup", "inotify_init1")
    assert {decision(machine, NUMBERS[machine][name]) for name in named} == {errno.EPERM}


@pytest.mark.parametrize(("name", "arguments", "found"), [
    ("clone", (0x11,), ALLOWED), ("clone", (0x10000011,), errno.EPERM), ("clone", (0x40000011,), errno.EPERM),
    ("socket", (1, 1, 0), ALLOWED), ("socket", (2, 1, 0), ALLOWED), ("socket", (10, 2, 0), ALLOWED),
    ("socket", (16, 3, 0), ALLOWED), ("socket", (16, 3, 12), errno.EAFNOSUPPORT), ("socket", (17, 3, 0), errno.EAFNOSUPPORT),
    ("socket", (38, 5, 0), errno.EAFNOSUPPORT), ("socket", (40, 1, 0), errno.EAFNOSUPPORT),
    ("socketpair", (1, 1, 0), ALLOWED), ("socketpair", (30, 1, 0), errno.EAFNOSUPPORT),
    ("ioctl", (0, 0x5401), ALLOWED), ("ioctl", (0, 0x5412), errno.EPERM), ("ioctl", (0, 0x541C), errno.EPERM),
    ("ioctl", (0, 0x1_0000_5412), errno.EPERM),
    # a protocol or a type that is not there makes the machine look for a module
    ("socket", (2, 1, 6), ALLOWED), ("socket", (10, 0x80802, 17), ALLOWED), ("socket", (2, 1, 132), errno.EPROTONOSUPPORT),
    ("socket", (10, 2, 136), errno.EPROTONOSUPPORT), ("socket", (2, 5, 0), errno.ESOCKTNOSUPPORT),
    ("socket", (10, 6, 0), errno.ESOCKTNOSUPPORT), ("socket", (2, 3, 0), errno.ESOCKTNOSUPPORT),
    # what is locked is the same file for every session and for the machine
    ("flock", (3, 1), errno.ENOLCK), *(("fcntl", (3, what), errno.ENOLCK) for what in (6, 7, 37, 38, 1024, 1026)),
    *(("fcntl", (3, what), ALLOWED) for what in (0, 1, 2, 3, 4, 1030, 1031)),
    ("sync", (), IGNORED), ("syncfs", (3,), IGNORED), ("prctl", (22, 2), errno.EPERM), ("prctl", (15, 1), ALLOWED),
    ("epoll_ctl", (3, 1, 4), ASKED), ("epoll_ctl", (3, 2, 4), ALLOWED), ("epoll_ctl", (3, 3, 4), ALLOWED),
    # buffers keep their size; addresses, time limits and delays can be set, and nothing that keeps memory
    ("setsockopt", (3, 1, 7), IGNORED), ("setsockopt", (3, 1, 8), IGNORED), ("setsockopt", (3, 1, 2), ALLOWED),
    ("setsockopt", (3, 1, 20), ALLOWED), ("setsockopt", (3, 6, 1), ALLOWED), ("setsockopt", (3, 41, 26), ALLOWED),
    ("setsockopt", (3, 1, 26), errno.ENOPROTOOPT), ("setsockopt", (3, 1, 60), errno.ENOPROTOOPT),
    ("setsockopt", (3, 0, 35), errno.ENOPROTOOPT), ("setsockopt", (3, 6, 14), errno.ENOPROTOOPT),
])
def test_calls_are_judged_by_their_arguments(name, arguments, found, machine):
    assert decision(machine, NUMBERS[machine][name], *arguments) == found


def test_unknown_calls_and_other_machines(machine):
    assert decision(machine, 435) == decision(machine, 463) == decision(machine, 1000) == errno.ENOSYS
    assert decision(machine, NUMBERS[machine]["read"], architecture=0x40000003) == KILLED
    assert decision(machine, 0x40000000 | NUMBERS[machine]["read"]) == KILLED
