"""A grader that is killed and started again: no mark is lost, none is doubled, and nothing of it is left."""

import os
import random
import signal
import sqlite3
import time
from types import SimpleNamespace

import psutil
import pytest

from autograder.sandbox.folders import PREFIX
from course.exercises import EXERCISES
from course.hand_in import ASSIGNMENT
from tests.graders import FULL, begin, below, code_of, graded, lives, mark_by_hand, marks, small_class, totals, wait_until

SEED = random.SystemRandom().randrange(1000)
BY_HAND = 1.5


def tables(root):
    with sqlite3.connect(root / "gradebook.db") as database:
        return {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def tables_without_version(root, pid):
    return (root / "gradebook.db").exists() and {"grade", "comment"} <= tables(root)


def the_sandbox_runs(root, pid):
    return len(below(pid)) >= 3


def a_notebook_is_written(root, pid):
    return any((root / "autograded").rglob("*.ipynb"))


def two_are_graded(root, pid):  # and a third one's notebooks are there, but perhaps not its marks
    return len([*(root / "autograded").rglob("6_*.ipynb")]) >= 3


def some_time(root, pid):
    time.sleep(random.Random(SEED).random() * 2)
    return True


MOMENTS = (tables_without_version, the_sandbox_runs, a_notebook_is_written, two_are_graded, some_time)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A class whose grader is killed at each moment in turn, and left to end at last."""
    root = tmp_path_factory.mktemp("killed")
    wanted = small_class(root)
    gradebook, seen, begun = str(root / "gradebook.db"), [], set()
    for moment in MOMENTS:
        pid = begin(root)
        wait_until(lambda moment=moment, pid=pid: moment(root, pid), pid)
        begun |= {psutil.Process(pid), *below(pid)}
        os.kill(pid, signal.SIGKILL)
        assert code_of(pid) == -signal.SIGKILL, (moment.__name__, SEED, (root / "said").read_text())
        for folder in (root / "temporary").glob(f"{PREFIX}*"):
            os.utime(folder, (0, 0))  # as if an hour went by
        seen.append(marks(gradebook) if "assignment" in tables(root) else {})
        if moment is two_are_graded:
            mark_by_hand(gradebook, next(student for student, part in seen[-1] if student != "b"), "ex3-derive", BY_HAND)
    return SimpleNamespace(root=root, wanted=wanted, seen=seen, begun=begun, gradebook=gradebook, last=graded(root))


def test_each_time_the_gradebook_is_whole_and_holds_no_mark_that_is_not_right(killed):
    for moment, found in zip(MOMENTS, killed.seen, strict=True):
        for (student, grade_id), (score, _) in found.items():
            wrong = student == "b" or grade_id not in FULL or (student == "d" and grade_id == "ex3-use")
            assert score in (None, 0 if wrong else FULL[grade_id]), (moment.__name__, student, grade_id)
    before, after = killed.seen[MOMENTS.index(two_are_graded):]
    assert sum(score is not None for score, _ in before.values()) >= 2 * len(EXERCISES)
    assert {part: score for part, (score, _) in before.items() if score is not None}.items() <= {
        part: score for part, (score, _) in after.items()}.items()


def test_started_again_it_grades_the_whole_class(killed):
    code, said = killed.last
    assert code == 1 and "3 graded, 0 of them not completely; 1 rejected." in said, said
    (marked,) = {student for (student, _), (_, given) in marks(killed.gradebook).items() if given is not None}
    assert totals(killed.gradebook) == {**killed.wanted, marked: killed.wanted[marked] - FULL["ex3-derive"] + BY_HAND}
    with sqlite3.connect(killed.gradebook) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM submitted_assignment").fetchone() == (len(killed.wanted),)
        assert database.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


def test_no_process_and_no_file_is_left(killed):
    wait_until(lambda: not any(map(lives, killed.begun)))
    assert sorted(os.listdir(killed.root)) == ["autograded", "gradebook.db", "said", "submitted", "temporary"]
    assert [name for name in os.listdir(killed.root / "temporary") if name.startswith(PREFIX)] == []
    folders = {student: sorted(os.listdir(killed.root / "autograded" / student / ASSIGNMENT)) for student in killed.wanted}
    assert set(map(tuple, folders.values())) == {tuple(sorted({f"{entry.notebook}.ipynb" for entry in EXERCISES.values()}))}


def test_when_its_sandbox_is_killed_it_stops_and_every_mark_stays(killed):
    """As the system does where memory ends. What was in the sandbox then is no answer, and no reason for 0 points."""
    before, words = marks(killed.gradebook), killed.root / "said"
    words.unlink()
    pid = begin(killed.root, "--jobs", "1")
    wait_until(lambda: words.exists() and "Submissions run as" in words.read_text(), pid)
    server = next(process for process in below(pid) if "autograder.sandbox.server" in process.cmdline())
    wait_until(lambda: len(below(server.pid)) >= 2, pid)  # a session is open
    server.children()[0].kill()
    code, said = code_of(pid), words.read_text()
    assert code in (1, 2) and "the fork server has ended" in said and "Traceback" not in said, said
    assert marks(killed.gradebook) == before
