"""What a stranger's code can and cannot do in the sandbox, started by this user (CI: root) and by a normal one."""

import os
import sys
from contextlib import ExitStack

import pytest

from autograder.sandbox.attacks import HARMFUL, HARMLESS
from tests.sandbox_host import hosted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")
WAYS = {"this user": False} if os.geteuid() else {"this user": False, "a normal user": True}


@pytest.fixture(scope="module")
def hosts():
    with ExitStack() as stack:
        yield {way: stack.enter_context(hosted(normal)) for way, normal in WAYS.items()}


@pytest.fixture(params=WAYS)
def host(hosts, request):
    return hosts[request.param]


def test_a_submission_runs_and_answers_as_in_a_plain_session(host):
    found = host.run("import torch\nfrom course import schedules\nx = torch.arange(3) * 2", "print('hello')", "1 / 0", "def f(:")
    assert found.ran == [None, None, "ZeroDivisionError", "SyntaxError"]
    assert found.x == [0, 2, 4] and found.output == "hello\n" and found.ended is None


@pytest.mark.parametrize("name", [*HARMLESS, *HARMFUL])
def test_an_attack_is_held_back(name, host):
    found = host.ask({"attack": name})
    assert found["held"], found


def test_a_real_run_works_inside_with_processes_that_talk_over_the_loopback(host):
    found = host.run("from course import schedules\nfrom course.pipeline import run\n"
                     "x = run(schedules.gpipe(2, 2), clock='virtual').max_gradient_difference", seconds=60, computing=60)
    assert found.ran == [None] and found.x == 0.0


FIGURE = """
import subprocess, sys, os
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig("figure.png")
program = subprocess.run([sys.executable, "-c", "import course; print(7)"], capture_output=True)
x = [os.path.getsize("figure.png") > 0, program.stdout.decode()]
"""


def test_programs_and_figures_work_inside(host):
    found = host.run(FIGURE, seconds=60, computing=60)
    assert found.ran == [None] and found.x == [True, "7\n"]


def test_memory_is_held_by_groups_as_root_and_by_a_watchdog_without_any(hosts):
    assert all("watched every" in hosts[way].describe for way, normal in WAYS.items() if normal)
