"""What the watchdog counts, of plain processes: what the kernel keeps for them beside their own pages."""

import subprocess
import sys
import textwrap
import threading

import pytest

from autograder.sandbox import watchdog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
PATIENCE = 60  # seconds: a guard against hangs
MEMORY = 48 << 20
BEGIN = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    def reserve(size, access):
        return libc.mmap(None, size, access, 0x4022, -1, 0)
    print("ready", flush=True)
    input()
"""
AREAS = """
    place = reserve(60_000 * 4096, 0)
    for page in range(0, 60_000, 2):
        libc.mprotect(place + page * 4096, 4096, 1)
    os.fork()
"""
PAGE_TABLES = """
    count = 14_000
    place = reserve(count << 21, 1)
    libc.madvise(place, count << 21, 15)
    for part in range(count):
        ctypes.c_char.from_address(place + (part << 21)).value
"""


@pytest.mark.parametrize(("work", "ended"), [(AREAS, True), (PAGE_TABLES, True), ("", False)])
def test_what_the_kernel_keeps_of_a_tree_is_counted(work, ended, monkeypatch):
    monkeypatch.setattr(watchdog, "WRITABLE", ())  # files and sockets are the machine's own here, outside of a sandbox
    monkeypatch.setattr(watchdog, "_directions", lambda pid: 0)
    assert watchdog._unreclaimable() > 0
    held = iter([0])
    monkeypatch.setattr(watchdog, "_unreclaimable", lambda: next(held, MEMORY))  # other programs change the real one as well
    told = threading.Event()
    code = textwrap.dedent(BEGIN) + textwrap.dedent(work) + "os.write(1, b'done\\n')\ninput()\n"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        watching = watchdog.Watchdog(MEMORY)
        try:
            watching.watch("key", process.pid, lambda reason: told.set())
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
            assert told.wait(PATIENCE if ended else 10 * watchdog.PERIOD) == ended
        finally:
            watching.close()
            process.stdin.close()
            process.kill()
