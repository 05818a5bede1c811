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
from nbgrader.api import Gradebook

from autograder.submissions import as_bytes
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests import hostile_submissions, malformed_submissions  # noqa: F401
from tests.bad_submissions import CASES, HONEST, NOTEBOOK, World, whole
from tests.normal_user import NOBODY, become_nobody, environment

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.timeout(1200)  # a guard: the whole class is graded in one fixture
FULL = {grade_id: entry.points for grade_id, entry in EXERCISES.items() if f"{entry.notebook}.ipynb" == NOTEBOOK}


def good(place):
    """The good submissions stand at even places, the cases between them."""
    return f"{2 * place:03}-good"


def name_of(number, case):
    return f"{2 * number + 1:03}-{case.name}{case.student}"


def hand_in(folder, notebooks):
    folder.mkdir(parents=True)
    for name, made in notebooks.items():
        (folder / name).parent.mkdir(exist_ok=True)
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
    listener: Listener
    before: set
    normal: bool


USERS = ["this user", "a normal user"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["this user"]


@pytest.fixture(scope="module", params=USERS)
def graded(request):
    """The class, graded in the order of its list, some at a time."""
    normal, before = request.param == "a normal user", set(psutil.Process().children(recursive=True))
    with tempfile.TemporaryDirectory(prefix="class-") as folder, contextlib.closing(Listener()) as listener:
        place = Path(folder)
        world = World(ROOT, place, listener.port, os.getpid(), f"marker-{uuid.uuid4().hex}", f"secret-{uuid.uuid4().hex}")
        (place / "notes.txt").write_text(world.secret)
        (place / "key.ipynb").write_bytes(as_bytes(whole()[NOTEBOOK]))
        for number, case in enumerate(CASES):
            hand_in(place / "submitted" / good(number) / ASSIGNMENT, whole())
            hand_in(place / "submitted" / name_of(number, case) / case.folder, case.notebooks(world))
        hand_in(place / "submitted" / good(len(CASES)) / ASSIGNMENT, whole())
        (place / "temporary").mkdir()
        if normal:
            for path in [place, *place.rglob("*")]:
                os.lchown(path, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-m", "tests.hurried_grader", "grade", place / "submitted", "--json", place / "out.json",
             "--jobs", "3"], cwd=place, capture_output=True, text=True, preexec_fn=become_nobody if normal else None,
            env=environment() | {"TMPDIR": str(place / "temporary"), "WORD_OF_THE_GRADER": world.secret})
        assert (place / "out.json").is_file(), done.stdout + done.stderr
        yield Run(done.returncode, done.stdout + done.stderr, json.loads((place / "out.json").read_text()), world, listener,
                  before, normal)


def earned(points):
    return {part: value for part, value in points.items() if value}


@pytest.mark.parametrize("number, case", list(enumerate(CASES)), ids=[case.name for case in CASES])
def test_it_gains_nothing_and_its_neighbours_lose_nothing(graded, number, case):
    results = graded.results
    for neighbour in (good(number), good(number + 1)):
        assert results[neighbour]["status"] == "graded" and earned(results[neighbour]["points"]) == FULL, results[neighbour]
    wanted, status, says = case.earned, case.status, case.says
    if case.closed and not graded.normal:
        wanted, status, says = HONEST, "graded", ""
    found = results[name_of(number, case)]
    assert earned(found["points"]) == wanted and found["total"] == sum(wanted.values()), found["notes"]
    said = [*found["notes"], *(text for messages in found["messages"].values() for pair in messages for text in pair)]
    assert found["status"] == status and says in "\n".join(said), said


def test_the_exit_code_and_the_summary_say_what_happened(graded):
    assert graded.code == 1 and len(graded.results) == 2 * len(CASES) + 1
    assert f"{sum(entry['status'] == 'rejected' for entry in graded.results.values())} rejected" in graded.printed
    assert all(name in graded.printed for name in graded.results if name.isprintable() and len(name) < 128)
    assert "Traceback" not in graded.printed and "\x1b[2J" not in graded.printed and "\nstudent 200" not in graded.printed


def test_the_gradebook_says_the_same(graded):
    with Gradebook(f"sqlite:///{graded.world.place / 'gradebook.db'}") as book:
        scores = {student.id: student.score for student in book.students}
    assert scores == {student: entry["total"] for student, entry in graded.results.items() if student in scores}
    assert set(graded.results) - set(scores) == {name for name in graded.results if not name.isprintable() or len(name) > 128}


def test_nothing_that_is_secret_came_out(graded):
    place = graded.world.place
    for path in [*(place / "autograded").rglob("*.ipynb"), place / "out.json", place / "gradebook.db"]:
        assert graded.world.secret.encode() not in path.read_bytes(), path
    assert graded.world.secret not in graded.printed
    for path in (place / "autograded").glob("*files-for-the-next*/*/*.ipynb"):
        assert "found /" not in path.read_text()


def test_an_autograded_notebook_holds_no_script(graded):
    for path in (graded.world.place / "autograded").glob(f"*scripts*/*/{NOTEBOOK}"):
        cells = json.loads(path.read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        assert outputs and all(output["output_type"] == "stream" or set(output["data"]) == {"text/plain"} for output in outputs)
        texts = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        assert graded.world.marker in texts and not any(tag in texts for tag in ("<script", "<img", "javascript:"))


def test_no_process_is_left(graded):
    marked = [process for process in psutil.process_iter(["cmdline"]) if graded.world.marker in (process.info["cmdline"] or ())]
    assert marked == [] and set(psutil.Process().children(recursive=True)) <= graded.before


def test_no_file_is_left(graded):
    assert list((graded.world.place / "temporary").iterdir()) == []
    assert not list(ROOT.glob(f"*/{graded.world.marker}*"))
    assert {path.name for path in graded.world.place.iterdir()} == {
        "autograded", "gradebook.db", "key.ipynb", "notes.txt", "out.json", "submitted", "temporary"}


def test_nobody_came_through_the_network(graded):
    assert graded.listener.visitors() == 0
    socket.create_connection(("127.0.0.1", graded.listener.port)).close()  # and it would have been seen
    assert graded.listener.visitors() == 1
