"""A class of bad submissions, each between two good ones: they gain nothing, cost nobody anything, and leave nothing behind."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from autograder.submissions import as_bytes
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.bad_submissions import CASES, NOTEBOOK, World, whole
from tests.normal_user import NOBODY, become_nobody, environment

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.timeout(1200)  # a guard: the whole class is graded in one fixture
FULL = {grade_id: entry.points for grade_id, entry in EXERCISES.items() if f"{entry.notebook}.ipynb" == NOTEBOOK}


def good(place):
    """The good submissions stand at even places, the cases between them."""
    return f"{2 * place:02}-good"


def hand_in(folder, notebooks):
    folder.mkdir(parents=True)
    for name, made in notebooks.items():
        made(folder / name) if callable(made) else (folder / name).write_bytes(as_bytes(made))


class Listener:
    """Counts who connects; the system accepts for it, so nobody is missed."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]

    def visitors(self):
        try:
            self._socket.accept()[0].close()
        except BlockingIOError:
            return 0
        return 1

    def close(self):
        self._socket.close()


@dataclass(frozen=True)
class Run:
    """What one run of `grade` over the whole class left and said."""

    code: int
    printed: str
    results: dict
    world: World
    place: Path
    listener: Listener
    before: set


USERS = ["this user", "a normal user"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["this user"]


@pytest.fixture(scope="module", params=USERS)
def graded(request):
    """The class, graded one submission after the other."""
    normal, before = request.param == "a normal user", set(psutil.Process().children(recursive=True))
    with tempfile.TemporaryDirectory(prefix="class-") as folder, contextlib.closing(Listener()) as listener:
        place = Path(folder)
        world = World(ROOT, place / "gradebook.db", listener.port, f"marker-{uuid.uuid4().hex}")
        for number, case in enumerate(CASES):
            hand_in(place / "submitted" / good(number) / ASSIGNMENT, whole())
            hand_in(place / "submitted" / f"{2 * number + 1:02}-{case.name}" / ASSIGNMENT, case.notebooks(world))
        hand_in(place / "submitted" / good(len(CASES)) / ASSIGNMENT, whole())
        (place / "temporary").mkdir()
        if normal:
            for path in [place, *place.rglob("*")]:
                os.lchown(path, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-m", "autograder", "grade", place / "submitted", "--gradebook", world.gradebook,
             "--json", place / "out.json", "--jobs", "1"], cwd=place, capture_output=True, text=True,
            env=environment() | {"TMPDIR": str(place / "temporary")}, preexec_fn=become_nobody if normal else None)
        assert (place / "out.json").is_file(), done.stdout + done.stderr
        yield Run(done.returncode, done.stdout, json.loads((place / "out.json").read_text()), world, place, listener, before)


@pytest.mark.parametrize("number, case", list(enumerate(CASES)), ids=[case.name for case in CASES])
def test_it_gains_nothing_and_its_neighbours_lose_nothing(graded, number, case):
    results = graded.results
    for neighbour in (good(number), good(number + 1)):
        assert results[neighbour]["status"] == "graded"
        assert {part: points for part, points in results[neighbour]["points"].items() if points} == FULL
    found = results[f"{2 * number + 1:02}-{case.name}"]
    assert {part: points for part, points in found["points"].items() if points} == case.earned, found["notes"]
    assert found["status"] == case.status and found["total"] == sum(case.earned.values())
    said = [*found["notes"], *(text for messages in found["messages"].values() for pair in messages for text in pair)]
    assert case.says in "\n".join(said), said


def test_the_exit_code_and_the_summary_say_what_happened(graded):
    assert graded.code == 1
    assert all(name in graded.printed for name in graded.results) and len(graded.results) == 2 * len(CASES) + 1
    assert f"{sum(case.status == 'rejected' for case in CASES)} rejected" in graded.printed


def test_no_process_is_left(graded):
    marked = [process for process in psutil.process_iter(["cmdline"]) if graded.world.marker in (process.info["cmdline"] or ())]
    assert marked == [] and set(psutil.Process().children(recursive=True)) <= graded.before


def test_no_file_is_left(graded):
    assert list((graded.place / "temporary").iterdir()) == []
    assert not (ROOT / "course" / graded.world.marker).exists()
    assert {path.name for path in graded.place.iterdir()} == {"autograded", "gradebook.db", "out.json", "submitted", "temporary"}


def test_nobody_came_through_the_network(graded):
    assert graded.listener.visitors() == 0
    socket.create_connection(("127.0.0.1", graded.listener.port)).close()  # and it would have been seen
    assert graded.listener.visitors() == 1
