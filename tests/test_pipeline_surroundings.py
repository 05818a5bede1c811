"""What a run meets outside its own processes: other runs, other threads, and machines on which something is missing."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import psutil
import pytest

from course.pipeline import close, pool, run
from course.pipeline.machine import free_memory
from course.schedules import gpipe, one_f_one_b
from tests.programs import PATIENCE, PROGRAM, ends, left_behind, session_of, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sessions of a Unix system")
SAY = """
import tempfile
from course import schedules
from course.pipeline import PipelineError, preload, run

def say():
    try:
        print("difference", run(schedules.gpipe(2, 2), clock="virtual").max_gradient_difference, flush=True)
    except PipelineError as error:
        print(error.message, flush=True)

preload()
say()
"""


def namespaces(kinds, setting_up="true"):
    """A command that gives another its own namespaces, after some lines of shell; the test is skipped where there are none."""
    def command(inner, *rest):
        return ["unshare", "--user", "--map-root-user", *kinds, "sh", "-c", f'{inner} && exec "$@"', "sh", *rest]

    if not shutil.which("unshare") or subprocess.run(command(setting_up, "true"), capture_output=True).returncode:
        pytest.skip("no user namespaces here, or not these: a machine that lacks something cannot be made")
    return command(setting_up)


def outcome(program, folder):
    output, errors = program.communicate(timeout=120)
    assert errors == "" and program.returncode == 0
    assert ends(program.pid)
    assert left_behind(folder) == []
    return output.splitlines()


def test_without_a_loopback_interface_the_error_says_so_and_the_next_run_works(tmp_path):
    code = SAY + textwrap.dedent("""
        import fcntl, socket, struct
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
        say()
    """)
    first, second = outcome(start(["-c", code], tmp_path, within=namespaces(["--net"])), tmp_path)
    assert "the processes cannot reach each other, 127.0.0.1 cannot be used" in first
    assert "the loopback interface is down" in first and "ip link set lo up" in first
    assert second == "difference 0.0"


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/shm is Linux's")
def test_without_shared_memory_in_dev_shm_all_works(tmp_path):
    within = namespaces(["--mount"], "mount -t tmpfs -o ro none /dev/shm")
    assert outcome(start(["-c", SAY], tmp_path, within), tmp_path) == ["difference 0.0"]


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are Linux's")
def test_where_nothing_can_be_written_the_error_says_so_and_the_next_run_works(tmp_path):
    read_only = ("for place in / /tmp /var/tmp; do mount -o remount,bind,ro $place 2>/dev/null; done; "
                 "mount -t tmpfs none /dev/shm && ! touch \"$TMPDIR\" 2>/dev/null && cd /proc")
    code = SAY + "tempfile.tempdir = '/dev/shm'\nsay()"
    within = namespaces(["--mount"], f"export TMPDIR={tmp_path}; {read_only}")
    first, second = outcome(start(["-c", code], tmp_path, within), tmp_path)
    assert first.startswith("the processes could not be started: no folder for temporary files can be written to; set TMPDIR")
    assert second == "difference 0.0"


@pytest.mark.skipif(sys.platform != "linux", reason="the range of ports is Linux's")
def test_without_a_free_port_the_error_says_so_and_the_next_run_works(tmp_path):
    code = textwrap.dedent("""
        import socket
        held = [socket.create_server(("127.0.0.1", port)) for port in range(40000, 40003)]
    """) + SAY + textwrap.dedent("""
        for each in held:
            each.close()
        open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("32768 60999")
        say()
    """)
    few = 'ip link set lo up && echo "40000 40002" > /proc/sys/net/ipv4/ip_local_port_range'
    first, second = outcome(start(["-c", code], tmp_path, namespaces(["--net"], few)), tmp_path)
    assert "the processes cannot reach each other" in first and "has no port left" in first
    assert second == "difference 0.0"


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are Linux's")
def test_with_a_full_temporary_folder_and_a_full_dev_shm_all_works(tmp_path):
    full = "; ".join(f"mount -t tmpfs -o size=64k none {place} && ! cat /dev/zero > {place}/full 2>/dev/null"
                     for place in (tmp_path / "temporary", "/dev/shm"))
    within = namespaces(["--mount"], f"mkdir -p {tmp_path / 'temporary'}; {full}")
    assert outcome(start(["-c", SAY], tmp_path, within), tmp_path) == ["difference 0.0"]


def groups_with_a_limit():
    """Where a real control group with a limit of memory can be made: the version 1 or 2 that this machine has, if it lets us."""
    for top, limit in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")):
        with contextlib.suppress(OSError):
            probe = Path(tempfile.mkdtemp(dir=top, prefix="course-probe-"))
            possible = (probe / limit).exists()
            probe.rmdir()
            if possible:
                return [(top, limit)]
    return []


@pytest.mark.parametrize(("top", "limit"), groups_with_a_limit())
def test_with_too_little_memory_in_a_real_control_group_the_error_says_so_and_a_smaller_run_works(top, limit, tmp_path):
    """Where no group can be made, test_pipeline_faults has the same with the size of the memory feigned."""
    code = SAY + textwrap.dedent("""
        from course.pipeline import pool

        def say_of(ranks):
            try:
                print("difference", run(schedules.gpipe(ranks, 2), clock="virtual").max_gradient_difference, flush=True)
            except PipelineError as error:
                print(error.message, flush=True)

        say_of(8)
        pool._need_memory = lambda ranks: None
        say_of(8)
        say_of(2)
    """)
    group = Path(tempfile.mkdtemp(dir=top, prefix="course-test-"))
    try:
        (group / limit).write_text(str(360 << 20))
        within = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        first, foreseen, *struck, last = outcome(start(["-c", code], tmp_path, within), tmp_path)
    finally:
        group.rmdir()
    assert first == last == "difference 0.0"
    assert "too little memory: 8 processes need about" in foreseen and "are free; close other notebooks" in foreseen
    assert "".join(struck).startswith(("rank ", "the processes could not be started", "difference 0.0"))


def test_two_programs(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    programs = [start(["-c", PROGRAM], folder) for folder in folders]
    pids = [outcome(program, folder)[0].split()[:2] for program, folder in zip(programs, folders, strict=True)]
    assert len({*pids[0], *pids[1]}) == 4


def test_a_second_thread_waits_for_its_turn():
    found = {}

    def take(name, schedule):
        found[name] = run(schedule, slot_seconds=0.02, steps=1)

    threads = [threading.Thread(target=take, args=pair) for pair in (("one", gpipe(3, 3)), ("two", one_f_one_b(2, 4)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE * 2)
    assert {name: result.max_gradient_difference for name, result in found.items()} == {"one": 0.0, "two": 0.0}
    assert found["two"].schedule == one_f_one_b(2, 4)
    close()


def test_closing_during_a_run_ends_it_with_a_reason():
    begun = threading.Event()
    warm = pool.pool_of(2)

    def watches():
        begun.wait(PATIENCE)
        close()

    watcher = threading.Thread(target=watches)
    watcher.start()
    replies = warm.replies

    def tells(ranks, timeout):
        begun.set()
        return replies(ranks, timeout)

    warm.replies = tells
    with pytest.raises(pool.PipelineError, match="the workers were ended by close"):
        warm.run(lambda worker: __import__("time").sleep(60))
    watcher.join()
    assert run(gpipe(2, 1), clock="virtual", steps=1).max_gradient_difference == 0.0
    close()


def test_a_copy_made_by_fork_ends_without_ending_the_workers(tmp_path):
    code = textwrap.dedent("""
        import os, sys
        from course import schedules
        from course.pipeline import run
        before = run(schedules.gpipe(2, 2), clock="virtual").pids
        copy = os.fork()
        if not copy:
            sys.exit()
        os.waitpid(copy, 0)
        print(run(schedules.gpipe(2, 2), clock="virtual").pids == before)
    """)
    assert outcome(start(["-c", code], tmp_path), tmp_path) == ["True"]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="a process can be watched on Linux only")
def test_the_workers_end_with_a_killed_caller_of_which_a_copy_lives_on(tmp_path):
    code = PROGRAM + textwrap.dedent("""
        sys.stdout.flush()
        import os, time
        if not os.fork():
            time.sleep(600)
        print(flush=True)
        time.sleep(600)
    """)
    program = start(["-c", code], tmp_path)
    workers = [int(pid) for pid in program.stdout.readline().split()[:2]]
    program.stdout.readline()
    program.kill()
    program.wait(PATIENCE)
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in workers if psutil.pid_exists(pid)], timeout=PATIENCE)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    for pid in session_of(program.pid):
        os.kill(pid, 9)
    program.communicate(timeout=PATIENCE)
    assert ends(program.pid)


MEMINFO = "MemTotal: 9000000 kB\nMemAvailable:    8000000 kB\n"


@pytest.mark.parametrize(("files", "expected"), [
    ({}, 8_000_000 * 1024),
    ({"memory.max": "max", "memory.current": "5"}, 8_000_000 * 1024),
    ({"memory.max": "1000", "memory.current": "900", "memory.stat": "anon 1\ninactive_file 300"}, 400),
    ({"a/b/memory.max": "max", "a/memory.max": "700", "a/memory.current": "100", "a/memory.stat": "anon 1"}, 600),
    ({"memory/c/memory.limit_in_bytes": "1000", "memory/c/memory.usage_in_bytes": "1500",
      "memory/c/memory.stat": "total_inactive_file 0"}, 0),
])
def test_free_memory_knows_the_limits_of_containers(files, expected, tmp_path):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(content + "\n")
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(MEMINFO)
    (tmp_path / "proc" / "self" / "cgroup").write_text("4:memory:/c\n0::/a/b\n")
    assert free_memory(tmp_path / "proc", tmp_path) == expected
    assert free_memory(tmp_path / "nowhere", tmp_path) is None
