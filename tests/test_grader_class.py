"""A class of 200, two graders at once on one gradebook, and a gradebook that another program holds for a while."""

import os
import sqlite3
import time

import psutil
import pytest

from course.hand_in import ASSIGNMENT
from tests.graders import FULL, NOTEBOOK, begin, code_of, empty_gradebook, marks, small_class, totals, wait_until
from tests.submissions import code, hand_in, notebook, save

STUDENTS, EARLY, TEXT = 200, 60, 400_000  # text: characters of a submission that its grader need not keep
MARGIN = 24 << 20  # bytes by which the grader may grow; it would be twice as much if it kept the texts


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A class of long submissions, graded; the grader's resident bytes, early and at the end."""
    root, sizes = tmp_path_factory.mktemp("large"), []
    first = hand_in(root / "submitted", "000", only=(NOTEBOOK,)) / f"{NOTEBOOK}.ipynb"
    content = notebook(first)
    content["cells"] += [{**code("x" * (TEXT // 10)), "cell_type": "markdown"} for _ in range(10)]
    save(first, content)
    for number in range(1, STUDENTS):
        folder = root / "submitted" / f"{number:03}" / ASSIGNMENT
        folder.mkdir(parents=True)
        os.link(first, folder / first.name)
    (root / "gradebook.db").write_bytes(empty_gradebook())
    pid = begin(root)
    for count in (EARLY, STUDENTS):
        wait_until(lambda count=count: len([*(root / "autograded").glob("*")]) >= count, pid)
        sizes.append(psutil.Process(pid).memory_info().rss)
    return root, code_of(pid), sizes


def test_a_class_of_200_is_graded_to_its_end(large):
    root, code, _ = large
    assert code == 0, (root / "said").read_text()
    assert f"{STUDENTS} graded, 0 of them not completely; 0 rejected." in (root / "said").read_text()
    assert totals(str(root / "gradebook.db")) == {f"{number:03}": sum(FULL.values()) for number in range(STUDENTS)}


def test_its_memory_does_not_grow_with_the_class(large):
    *_, (early, late) = large
    assert MARGIN < (STUDENTS - EARLY) * TEXT / 2
    assert late - early < MARGIN, (early >> 20, late >> 20)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A class that two graders grade at once into a gradebook that is not there yet, while another program holds it at times."""
    root = tmp_path_factory.mktemp("two")
    wanted = small_class(root)
    pids = [begin(root, said=name) for name in ("said", "the other said")]
    wait_until(lambda: any((root / "autograded").rglob("6_*.ipynb")))
    with sqlite3.connect(root / "gradebook.db", timeout=60, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(1)
        other.execute("ROLLBACK")
    codes = [code_of(pid) for pid in pids]
    return root, wanted, codes, [(root / name).read_text() for name in ("said", "the other said")]


def test_two_graders_at_once_write_one_gradebook(two):
    root, wanted, codes, said = two
    assert codes == [1, 1], said  # 1: one is rejected
    assert totals(str(root / "gradebook.db")) == wanted and len(marks(str(root / "gradebook.db")))
    assert not [path for path in (root / "autograded").rglob("*") if path.is_file() and path.suffix != ".ipynb"]


def test_who_waits_for_a_locked_gradebook_says_nothing_of_it(two):
    assert not [said for said in two[-1] if "locked" in said or "Traceback" in said]
