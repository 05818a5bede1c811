"""PostgreSQL as gradebook, on a server of the test's own: two graders at once, one that is killed, locks, what is refused."""

import csv
import os
import signal

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config

from autograder import gradebook as module
from autograder.__main__ import main
from autograder.gradebook import GradebookError, open_gradebook
from autograder.release import read_releases
from autograder.results import rejected, write
from course.hand_in import ASSIGNMENT
from tests.graders import FULL, NOTEBOOK, begin, code_of, graded, mark_by_hand, marks, small_class, totals, wait_until
from tests.postgresql import postgresql, program
from tests.submissions import answer, hand_in

pytestmark = pytest.mark.skipif(program("initdb") is None, reason="no server of PostgreSQL here (Debian: apt install postgresql)")
RELEASES = read_releases()


@pytest.fixture(scope="module")
def server():
    with postgresql() as started:
        yield started


@pytest.fixture(scope="module")
def two(server, tmp_path_factory):
    """A class that two graders, each with a folder of its own, grade at the same time into a database that was empty."""
    root = tmp_path_factory.mktemp("two")
    wanted, gradebook = small_class(root), server.new("two")
    names = [{"autograded": "autograded", "said": "said"}, {"autograded": "the other's autograded", "said": "the other said"}]
    codes = [code_of(pid) for pid in [begin(root, gradebook=gradebook, **name) for name in names]]
    return root, wanted, gradebook, codes, [(root / name["said"]).read_text() for name in names]


def test_two_graders_make_one_gradebook(two):
    _, wanted, gradebook, codes, said = two
    assert codes == [1, 1] and totals(gradebook) == wanted, said  # 1: one is rejected


def test_marks_by_hand_survive_and_what_changes_is_graded_anew(two):
    root, wanted, gradebook, *_ = two
    mark_by_hand(gradebook, "a", "ex3-derive", 1.5)
    answer(root / "submitted" / "c" / ASSIGNMENT, "ex3-use-answer", "bubble_4_8 = None")
    pid = begin(root, gradebook=gradebook)
    wait_until(lambda: marks(gradebook)["c", "ex3-use"][0] == 0, pid)
    os.kill(pid, signal.SIGKILL)
    code_of(pid)
    found = marks(gradebook)
    assert found["a", "ex3-derive"] == (FULL["ex3-derive"], 1.5)
    code, said = graded(root, gradebook=gradebook)
    assert code == 1 and "Traceback" not in said, said
    assert totals(gradebook) == {**wanted, "a": wanted["a"] - FULL["ex3-derive"] + 1.5, "c": wanted["d"]}


def test_report_feedback_and_export_read_it(two, capsys):
    root, _, gradebook, *_ = two
    assert main(["report", "--gradebook", gradebook, "--csv", str(root / "class.csv")]) == 0
    assert "Everything is marked." in capsys.readouterr().out
    with open(root / "class.csv", newline="", encoding="utf-8") as file:
        assert {row["student"]: float(row["total"]) for row in csv.DictReader(file)} == totals(gradebook)
    config = Config({"CourseDirectory": {
        "root": str(root), "autograded_directory": "autograded", "feedback_directory": "feedback", "assignment_id": ASSIGNMENT,
        "student_id": "a", "notebook_id": NOTEBOOK, "db_url": gradebook}})
    GenerateFeedback(coursedir=CourseDirectory(config=config), config=config).start()
    assert "ex3-derive" in (root / "feedback" / "a" / ASSIGNMENT / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
    with Gradebook(gradebook) as book:
        CsvExportPlugin(to=str(root / "grades.csv")).export(book)
    with open(root / "grades.csv", newline="", encoding="utf-8") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == totals(gradebook)


def test_a_locked_table_is_one_line_and_nothing_is_lost(two, server, tmp_path, monkeypatch):
    gradebook = two[2]
    before = marks(gradebook)
    monkeypatch.setattr(module, "WAIT", 1)
    with open_gradebook(gradebook, RELEASES, tmp_path) as book, server.connect("two") as other, other.transaction():
        other.execute("LOCK TABLE grade IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(GradebookError, match="locked for more than 1 s by another program: close") as caught:
            write(book, rejected("a", 1, True, "empty"), RELEASES)
    assert "\n" not in str(caught.value) and marks(gradebook) == before


def test_a_server_that_is_stopped_in_the_middle_is_one_line(two, server, tmp_path):
    gradebook = two[2]
    before = marks(gradebook)
    with open_gradebook(gradebook, RELEASES, tmp_path) as book:
        with server.connect() as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'two'")
        with pytest.raises(GradebookError, match="terminat") as caught:
            write(book, rejected("a", 1, True, "empty"), RELEASES)
    assert "\n" not in str(caught.value) and marks(gradebook) == before


@pytest.mark.parametrize("address, reason", [
    ("postgresql+psycopg://me:topsecret@/x?host=/nowhere", "No such file or directory"),
    ("nothing://me:topsecret@here/x", "nothing"),
    ("mysql+pymysql://me:topsecret@here/x", "the Python package pymysql is not there: install it")])
@pytest.mark.parametrize("command", ["grade", "report"])
def test_what_cannot_be_reached_is_one_line_without_the_password(command, address, reason, tmp_path, capsys):
    hand_in(tmp_path, "a", only=(NOTEBOOK,))
    assert main([command, *[str(tmp_path)] * (command == "grade"), "--gradebook", address]) == 2
    said = capsys.readouterr().err
    assert reason in said and said.count("\n") == 1 and "Traceback" not in said and "topsecret" not in said
