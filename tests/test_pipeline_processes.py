"""The caller, whatever it is: no torch in it, nothing on its stderr, no process left when it ends, however it ends."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from tests.programs import PATIENCE, PROGRAM, ends, environment, left_behind, session_of, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sessions of a Unix system")


@pytest.mark.parametrize("how", ["a script without a guard", "standard input", "an argument"])
def test_a_caller_gets_no_torch_no_stderr_and_leaves_nothing(how, tmp_path):
    script = tmp_path / "answer.py"
    script.write_text(PROGRAM)
    arguments = {"a script without a guard": [script], "standard input": ["-"], "an argument": ["-c", PROGRAM]}[how]
    program = start(arguments, tmp_path, stdin=subprocess.PIPE)
    output, errors = program.communicate(PROGRAM if how == "standard input" else None, timeout=120)
    assert errors == ""
    assert program.returncode == 0
    *_, torch_is_here, preloaded = output.split()
    assert torch_is_here == "False"
    assert preloaded == str(sys.platform == "linux")
    assert ends(program.pid)
    assert left_behind(tmp_path) == []


def test_the_workers_end_when_the_caller_is_killed(tmp_path):
    program = start(["-c", PROGRAM + "sys.stdout.flush()\nimport time\ntime.sleep(600)"], tmp_path)
    program.stdout.readline()
    assert len(session_of(program.pid)) > 2
    program.kill()
    program.communicate(timeout=PATIENCE)
    assert ends(program.pid)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("seconds", [0.3, 3.0])
def test_a_caller_killed_while_its_workers_start_leaves_none(seconds, tmp_path):
    program = start(["-c", "print(flush=True)\n" + PROGRAM], tmp_path)
    program.stdout.readline()
    time.sleep(seconds)
    program.kill()
    program.communicate(timeout=PATIENCE)
    assert ends(program.pid)
    assert left_behind(tmp_path) == []


def test_an_interrupt_of_the_whole_group_reaches_the_caller_alone(tmp_path):
    code = textwrap.dedent("""
        import os, sys, threading, time
        from course import schedules
        from course.pipeline import run
        run(schedules.gpipe(2, 2))
        threading.Timer(1, lambda: os.killpg(0, 2)).start()
        try:
            run(schedules.gpipe(2, 8), slot_seconds=0.5)
        except KeyboardInterrupt:
            print("interrupted")
        print(run(schedules.gpipe(2, 2)).max_gradient_difference)
    """)
    program = start(["-c", code], tmp_path)
    output, errors = program.communicate(timeout=120)
    assert (output, errors) == ("interrupted\n0.0\n", "")
    assert ends(program.pid)


def test_an_interrupt_while_the_workers_start_leaves_the_next_run_possible(tmp_path):
    code = textwrap.dedent("""
        import os, threading
        from course import schedules
        from course.pipeline import run
        threading.Timer(0.7, lambda: os.killpg(0, 2)).start()
        try:
            run(schedules.gpipe(2, 2))
        except KeyboardInterrupt:
            print("interrupted")
        print(run(schedules.gpipe(2, 2)).max_gradient_difference)
    """)
    program = start(["-c", code], tmp_path)
    output, errors = program.communicate(timeout=120)
    assert output == "interrupted\n0.0\n"
    assert errors == ""
    assert ends(program.pid)


def test_an_interrupt_at_any_time_leaves_no_words_and_no_process(tmp_path):
    code = textwrap.dedent("""
        import os, random, threading, time
        from course import schedules
        from course.pipeline import close, run
        draw = random.Random(5)
        run(schedules.gpipe(4, 1), clock="virtual", steps=1)
        for number in range(12):
            if number % 3:
                close()
            threading.Timer(draw.uniform(0, 0.25), lambda: os.kill(os.getpid(), 2)).start()
            try:
                while True:
                    run(schedules.gpipe(4, 2), clock="virtual", steps=1)
            except KeyboardInterrupt:
                pass
        print(run(schedules.gpipe(2, 2), clock="virtual").max_gradient_difference, flush=True)
        close()
        print(os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd") else "", flush=True)
        time.sleep(600)
    """)
    program = start(["-c", code], tmp_path)
    assert program.stdout.readline() == "0.0\n"
    assert len(program.stdout.readline().split()) < 20, "each run would have left some open files"
    until = time.monotonic() + PATIENCE
    while len(session_of(program.pid)) > 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(session_of(program.pid)) <= 3, "the program, its fork server and its resource tracker"
    program.kill()
    assert program.communicate(timeout=PATIENCE)[1] == "", "seed 5"
    assert ends(program.pid)


def test_a_forked_copy_of_the_caller_leaves_the_workers_alone(tmp_path):
    code = textwrap.dedent("""
        import multiprocessing
        from course import schedules
        from course.pipeline import close, run
        before = run(schedules.gpipe(2, 2)).pids
        child = multiprocessing.get_context("fork").Process(target=close)
        child.start()
        child.join()
        print(run(schedules.gpipe(2, 2)).pids == before)
    """)
    program = start(["-c", code], tmp_path)
    assert program.communicate(timeout=120) == ("True\n", "")
    assert ends(program.pid)


def test_a_notebook_cell_gets_nothing_on_stderr(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    cells = ["from course import schedules\nfrom course.pipeline import run\nimport sys",
             "seen = []\nresult = run(schedules.gpipe(2, 2), during=lambda operation: seen.append(str(operation)))",
             "print(result.max_gradient_difference, 'torch' in sys.modules, *result.pids)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute(env=environment(tmp_path))
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert [output.get("name") for output in outputs] == ["stdout"]
    difference, torch_is_here, *pids = outputs[0]["text"].split()
    assert (difference, torch_is_here) == ("0.0", "False")
    until = time.monotonic() + PATIENCE
    while any(map(psutil.pid_exists, map(int, pids))) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, map(int, pids)))


def test_importing_the_pipeline_starts_nothing_and_imports_no_torch(tmp_path):
    code = ("import sys, json, course.pipeline, multiprocessing.forkserver as server\n"
            "print(json.dumps(['torch' in sys.modules, server._forkserver._forkserver_pid]))")
    program = start(["-c", code], tmp_path)
    output, errors = program.communicate(timeout=PATIENCE)
    assert (json.loads(output), errors) == ([False, None], "")


def test_a_worker_survives_ctrl_c():
    from course.pipeline import run
    from course.schedules import gpipe

    first = run(gpipe(2, 2), clock="virtual").pids
    for pid in first:
        os.kill(pid, signal.SIGINT)
    assert run(gpipe(2, 2), clock="virtual").pids == first


def test_without_a_fork_server_workers_are_spawned(tmp_path):
    program = start(["-c", "import course.pipeline.launch as launch\nlaunch.METHOD = 'spawn'\n" + PROGRAM], tmp_path)
    output, errors = program.communicate(timeout=120)
    assert errors == ""
    assert output.split()[-2:] == ["False", "False"]
    assert ends(program.pid)


def test_eight_workers_are_spawned(tmp_path):
    code = """
import course.pipeline.launch as launch
from course import schedules
from course.pipeline import run
launch.METHOD = "spawn"
result = run(schedules.one_f_one_b(8, 2), clock="virtual", steps=1)
print(len(set(result.pids)), result.max_gradient_difference, result.machine["preloaded"])
"""
    program = start(["-c", code], tmp_path)
    output, errors = program.communicate(timeout=240)
    assert (output, errors) == ("8 0.0 False\n", "")
    assert ends(program.pid)
