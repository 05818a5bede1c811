"""Code that does not end is stopped, whatever it catches."""

import contextlib
import signal
import sys
import threading

import pytest

from autograder.session import Session
from course.answers import LocalAnswer


def endless():
    while True:
        pass


def stubborn():
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def deaf():
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            pass


def deaf_by_recursion():
    try:
        while True:
            pass
    except:  # noqa: E722
        deaf_by_recursion()


@contextlib.contextmanager
def slow_to_begin():
    deaf()
    yield


def deaf_in_a_context():
    with slow_to_begin(), contextlib.suppress(BaseException):
        pass


@pytest.mark.parametrize("function", [endless, stubborn, deaf, deaf_by_recursion, deaf_in_a_context])
def test_a_call_that_does_not_end_is_stopped_and_no_limit_is_left(function):
    before = signal.getsignal(signal.SIGALRM), sys.gettrace()
    found = LocalAnswer(function, seconds=0.3).call()
    assert found.type == "TimeLimit" and found.text.startswith("it ran for more than 0.3 s and was stopped")
    assert (signal.getsignal(signal.SIGALRM), sys.gettrace()) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert LocalAnswer(lambda: 5, seconds=60).call() == 5


def test_so_it_is_from_outside():
    with Session(seconds=1) as session:
        assert session.run("def f():\n    while True:\n        try:\n            while True: pass\n        except: pass") is None
        assert session.answer("f").call().type == "TimeLimit"
        assert session.run("x = 1") is None and session.answer("x").value() == 1


def test_a_call_that_is_stopped_while_it_imports_says_so(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = LocalAnswer(lambda: __import__("slow_to_import"), seconds=0.3).call()
    assert found.type == "TimeLimit" and "while it imported a package; import it in a cell above" in found.text
    assert "import" not in LocalAnswer(endless, seconds=0.3).call().text


def test_outside_the_main_thread_there_is_no_limit_and_it_says_so():
    found = []
    thread = threading.Thread(target=lambda: found.append((LocalAnswer(lambda: 5).call(), LocalAnswer(5).limited)))
    thread.start()
    thread.join()
    assert found == [(5, False)] and LocalAnswer(5).limited
