"""The sandbox from the grader's side: refusals, slots, ends, what is left behind; and the canary that proves it."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from autograder.sandbox import Limits, SandboxFailed, Unsandboxed, canary, folders, groups, open_sandbox, slots
from autograder.sandbox.attacks import HARMLESS
from autograder.sandbox.selftest import Target, attack
from course.answers import Raised
from tests.normal_user import ROOT, become_nobody, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
PATIENCE = 200  # seconds: a guard against hangs


@pytest.fixture(scope="module")
def box():
    with open_sandbox(slots=2, hidden=(Path(sys.prefix) / "pyvenv.cfg",), limits=Limits(memory=256 << 20), preload=()) as found:
        yield found


def mine():
    """Processes, groups and temporary folders of sandboxes that this process has started."""
    children = [child.pid for child in psutil.Process().children(recursive=True)]
    groups_of_mine = list(Path("/sys/fs/cgroup").glob(f"**/grading-{os.getpid()}-*"))
    return children, groups_of_mine, list(Path(tempfile.gettempdir()).glob(f"{folders.PREFIX}*"))


def gone(pids):
    deadline = time.monotonic() + PATIENCE
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.05)
    return True


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *arguments], stdout=subprocess.PIPE, text=True,
                            cwd="/", **{"env": environment(), **options})


@pytest.mark.parametrize("name", HARMLESS)
def test_an_attack_succeeds_where_nothing_holds_it_back(name):
    with Target() as target:
        assert not attack(name, Unsandboxed(), target).held


def test_the_canary_sings_in_a_plain_process(tmp_path):
    (tmp_path / "secret").write_text("s")
    (tmp_path / "hidden").write_text("h")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bait = canary.Bait(str(tmp_path / "secret"), (str(tmp_path / "hidden"),), listener.getsockname(), os.getpid(),
                           canary.namespaces())
        found = canary.breaches(bait)
    assert {"it can read a file of the grader's", "it reaches a listener of the grader's", "it can signal the grader",
            "no filter of system calls is on", f"it sees {tmp_path / 'hidden'}", "its net namespace is the grader's"} <= {*found}


def test_two_sessions_at_a_time_see_nothing_of_each_other(box):
    with box.session() as one, box.session() as two:
        assert one.run("import os\nopen('/tmp/mine', 'w').close()\nx = [os.getpid(), os.path.exists('/tmp/mine')]") is None
        assert two.run("import os\nx = [os.getpid(), os.path.exists('/tmp/mine')]") is None
        assert (one.answer("x").value(), two.answer("x").value()) == ([1, True], [1, False])


def test_more_threads_than_slots_wait_for_their_turn(box):
    def work(number):
        with box.session() as session:
            session.run(f"x = {number}")
            found.append(session.answer("x").value())

    found = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(found) == [*range(6)]


def test_what_is_hidden_is_hidden_also_inside_a_folder_that_is_shown(box):
    with box.session() as session:
        assert session.run("import os, sys\nx = os.listdir(sys.prefix)") is None
        assert session.run("open(sys.prefix + '/pyvenv.cfg')").type == "PermissionError"
        assert "pyvenv.cfg" in session.answer("x").value()


def test_the_budget_ends_a_session_and_says_so(box):
    with box.session(seconds=60, budget=1, computing=60) as session:
        assert session.run("import time; time.sleep(50)").type == "Ended"
        assert session.run("x = 1") == Raised("Ended", session.ended) and "its 1 s for everything" in session.ended


def test_seconds_of_computing_are_limited_and_sleep_is_not(box):
    with box.session(seconds=60, computing=0.5) as session:
        assert session.run("import time; time.sleep(0.8)") is None
        assert session.run("while True: pass") == Raised("TimeLimit", "it ran for more than 0.5 s of computing and was stopped")


@pytest.mark.parametrize(("cell", "why"), [
    ("import os; os._exit(3)", "its process has ended"), ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ("import os, time; os.closerange(0, 100); time.sleep(60)", "it has closed the pipe"), ("x = b'x' * (1 << 40)", None),
    ("kept = [bytearray(b'x' * (1 << 26)) for _ in range(200)]", ""),
])
def test_the_end_of_a_process_is_told(cell, why, box):
    with box.session() as session:
        found = session.run(cell)
        assert found.type == "MemoryError" if why is None else found.type in ("Ended", "MemoryError")
        assert (why or "") in (session.ended or "")


def test_nothing_is_left_when_a_sandbox_is_closed_with_a_session_open():
    before = mine()
    found = open_sandbox(preload=())
    session = found.session()
    session.run("import subprocess\nsubprocess.Popen(['sleep', '600'])")
    inside = [*set(mine()[0]) - set(before[0])]
    assert len(inside) >= 3
    found.close()
    session.close()
    assert gone(inside) and session.run("x = 1").type == "Ended"
    assert [set(now) - set(then) for now, then in zip(mine()[1:], before[1:], strict=True)] == [set(), set()]


GRADER = """
    import sys, time
    from autograder.sandbox import SandboxFailed, open_sandbox
    with open_sandbox(preload=()) as box:
        session = box.session(budget=100000)
        session.run("import subprocess\\nsubprocess.Popen(['sleep', '600'])")
        print("running", flush=True)
        time.sleep(600)
"""


def test_a_grader_that_is_killed_leaves_no_process_and_no_group():
    with python(GRADER) as grader:
        assert grader.stdout.readline() == "running\n"
        inside = [child.pid for child in psutil.Process(grader.pid).children(recursive=True)]
        grader.kill()
        grader.wait()
    assert len(inside) >= 3 and gone(inside)
    deadline = time.monotonic() + PATIENCE
    while list(Path("/sys/fs/cgroup").glob(f"**/grading-{grader.pid}-*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_when_the_fork_server_is_killed_sessions_end_and_the_next_one_is_refused():
    before = mine()[0]
    with open_sandbox(preload=()) as found:
        session = found.session()
        inside = [pid for pid in mine()[0] if pid not in before]
        os.kill(inside[0], signal.SIGKILL)
        assert gone(inside)
        assert session.run("x = 1").type == "Ended"
        session.close()
        with pytest.raises(SandboxFailed, match="fork server"):
            found.session()


def test_a_request_that_fails_costs_the_fork_server_nothing_else(box):
    with box.session() as open_all_the_time:
        for request, descriptors in ((b'{"slot": 99}', [0, 0, 0, 0]), (b'{"slot": 0}', []), (b"no JSON", [0]), (b"[]", [0, 0])):
            socket.send_fds(box._control, [request], descriptors)
        with box.session() as session:
            assert session.run("x = 7") is None and session.answer("x").value() == 7
        assert open_all_the_time.run("x = 1") is None
    box.require()


def test_the_last_words_of_a_fork_server_are_told():
    before = mine()[0]
    with open_sandbox(preload=()) as found:
        server = next(pid for pid in mine()[0] if pid not in before)
        socket.send_fds(found._control, [b"no JSON"], [])
        with found.session():
            pass
        os.kill(server, signal.SIGKILL)
        assert gone([server])
        with pytest.raises(SandboxFailed, match=r"(?s)last words were: .*JSONDecodeError"):
            found.session()


def test_a_slot_is_not_given_to_the_next_while_a_process_of_the_last_is_there(monkeypatch):
    monkeypatch.setattr(slots, "END_SECONDS", 0.05)
    one = slots.Slot(None, ())
    ours, forgotten = slots.Slots([one]), []
    assert ours.take() == one
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with python("import time; time.sleep(600)") as undead:
        boxed = slots.Boxed((0, 0, 0), mine, os.pidfd_open(undead.pid), None, one, ours, forgotten.append)
        boxed.wait()
        with pytest.raises(SandboxFailed, match="do not end"):
            ours.take(0.05)
        assert not forgotten
        theirs.close()
        undead.kill()
        undead.wait()
        assert ours.take(PATIENCE) == one and forgotten == [one]


FEW_PROCESSES = """
    import resource, sys
    from autograder.sandbox import SandboxFailed, open_sandbox
    from autograder.sandbox.limits import SPARE, threads
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    resource.setrlimit(resource.RLIMIT_NPROC, (threads() + SPARE + int(sys.argv[1]), hard))
    try:
        with open_sandbox(slots=2, preload=()) as box, box.session() as one:
            one.run("import os, time\\nwhile True:\\n    if not os.fork():\\n        time.sleep(600)")
            with box.session() as two:
                print(two.run("import subprocess\\nx = subprocess.call(['true'])"), two.answer("x").value())
    except SandboxFailed as failure:
        print(failure)
"""


@pytest.mark.parametrize(("left", "says"), [(100, "None 0"), (20, "ulimit -u")])
def test_a_storm_of_processes_leaves_some_to_the_others_where_the_user_may_have_few(left, says):
    with python(FEW_PROCESSES, str(left), preexec_fn=None if os.geteuid() else partial(become_nobody, 65_533)) as program:
        assert says in program.stdout.read()


NO_NAMESPACES = """
    import os, sys, tempfile
    from pathlib import Path
    from autograder.__main__ import main
    from autograder.sandbox import linux
    uid, gid = os.getuid(), os.getgid()
    linux.unshare("user")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        Path("/proc/self", name).write_text(text)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "submitted" / "one" / "pipeline_parallelism").mkdir(parents=True)
        tempfile.tempdir = str(Path(folder) / "temporary")
        Path(tempfile.tempdir).mkdir()
        sys.stderr = sys.stdout
        for arguments in (["selftest"], ["grade", f"{folder}/submitted"]):
            print("ends with", main(arguments))
        left = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != "gradebook.db"]
        print("left:", left, os.listdir(f"{folder}/autograded"))
"""


def test_without_user_namespaces_selftest_and_grade_refuse_and_name_the_setting():
    with python(NO_NAMESPACES, preexec_fn=None if os.geteuid() else become_nobody) as program:
        said = program.stdout.read()
    assert said.count("ends with 2\n") == 2 and "Traceback" not in said and "left: [] []" in said, said
    for one in said.split("ends with 2\n")[:2]:
        assert "unshare of user, pid" in one and "/proc/sys/user/max_user_namespaces is 0" in one
        assert "sudo sysctl -w user.max_user_namespaces=10000" in one and "--no-sandbox" in one


def test_a_folder_that_only_root_may_enter_with_spaces_and_below_tmp(tmp_path):
    folder = tmp_path / "a folder, with ö"
    folder.mkdir(mode=0o700)
    for name in ("course", "autograder", "pyproject.toml"):
        subprocess.run(["cp", "-r", ROOT / name, folder], check=True)
    (folder / "solutions").mkdir()
    code = """
        import json, course
        from autograder.sandbox import open_sandbox
        with open_sandbox(preload=()) as box, box.session() as session:
            session.run("import os, course; x = [course.__file__, os.listdir(os.path.dirname(os.path.dirname(course.__file__)))]")
            print(json.dumps([course.__file__, session.answer("x").value()]))
    """
    with python(code, env={**os.environ, "PYTHONPATH": str(folder)}) as program:
        path, found = json.loads(program.stdout.read())
    assert found == [path, ["course"]] and path == str(folder / "course" / "__init__.py")


def test_a_sandbox_says_what_holds(box):
    limited = groups.make(Limits())
    groups.remove(limited)
    assert ("held by control groups" if limited else "watched every 50 ms") in box.describe()
    assert ("59000, 59001" in box.describe()) == (os.geteuid() == 0)
