"""A disk that is full, at the start and in the middle: one line, no half-written file, and what was graded stays."""

import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from autograder.sandbox import linux
from course.exercises import EXERCISES
from course.progress import write_atomically
from tests.graders import code_of, forked, graded, small_class, totals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a small disk can be mounted for one process only on Linux")
SIZE = 16 << 20  # bytes


def mount_small(folder: Path):
    """A disk of SIZE, for this process and its children alone."""
    folder.mkdir()
    names = ["mnt"] if os.geteuid() == 0 else ["user", "mnt"]
    uid, gid = os.getuid(), os.getgid()
    linux.unshare(*names)
    if "user" in names:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            Path("/proc/self", name).write_text(text)
    linux.mount(None, "/", None, linux.RECURSIVE | linux.PRIVATE)
    linux.mount("tmpfs", str(folder), "tmpfs", 0, f"size={SIZE}")


def free(folder: Path) -> int:
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def fill(folder: Path, spare: int = 0):
    with open(folder / "filler", "wb") as file:
        file.write(b"x" * max(0, free(folder) - spare))


def story(root: Path) -> dict:
    """What a class comes to whose marks go to a disk that is full again and again: each time code, words, totals and files."""
    small = root / "small"
    mount_small(small)
    told, gradebook = {"wanted": small_class(root)}, small / "gradebook.db"

    def grade(chapter, *more, **options):
        code, said = graded(root, *more, gradebook=str(gradebook), autograded=str(small / "autograded"), **options)
        names = sorted(path.name for path in small.rglob("*") if path.is_file())
        told[chapter] = code, said, totals(str(gradebook)) if gradebook.exists() and gradebook.stat().st_size else {}, names

    fill(small)
    grade("full from the start")
    os.remove(small / "filler")
    grade("one", "--student", "b")
    size = sum(path.stat().st_size for path in (small / "autograded").rglob("*.ipynb"))
    fill(small, 3 * size)
    grade("full in the middle")
    os.remove(small / "filler")
    grade("with room")
    fill(small)
    grade("full again")
    grade("no temporary folder", temporary="small")
    with sqlite3.connect(gradebook) as database:
        told["check"] = database.execute("PRAGMA integrity_check").fetchall()
    return told


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    root = tmp_path_factory.mktemp("disk")
    code = code_of(forked(lambda: (root / "told.json").write_text(json.dumps(story(root))) and 0))
    assert code == 0
    return json.loads((root / "told.json").read_text())


NOTEBOOKS = sorted({f"{entry.notebook}.ipynb" for entry in EXERCISES.values()})
NO_ROOM = "there is no room left on the disk: make room, and grade again"


def test_a_disk_that_is_full_from_the_start_is_one_line(told):
    code, said, _, files = told["full from the start"]
    assert code == 2 and NO_ROOM in said and said.count("\n") == 1 and "Traceback" not in said
    assert set(files) <= {"filler", "gradebook.db"}


def test_a_disk_that_is_full_in_the_middle_keeps_what_is_graded(told):
    code, said, totals, files = told["full in the middle"]
    assert code == 1 and f"{NO_ROOM}; the marks written so far stand; {len(totals)} of 4 submissions are graded" in said
    assert 1 < len(totals) < 4 and totals.items() <= told["wanted"].items() and "Traceback" not in said
    assert set(files) <= {"filler", "gradebook.db", *NOTEBOOKS}


def test_with_room_it_goes_on(told):
    code, said, totals, files = told["with room"]
    assert code == 1 and "3 graded, 0 of them not completely; 1 rejected." in said  # 1: one is rejected
    assert totals == told["wanted"] and files == sorted(["gradebook.db", *4 * NOTEBOOKS])


def test_graded_again_on_a_full_disk_every_mark_stays(told):
    code, said, totals, files = told["full again"]
    assert code == 2 and NO_ROOM in said and "Traceback" not in said
    assert totals == told["wanted"] and files == sorted(["filler", "gradebook.db", *4 * NOTEBOOKS])
    assert told["check"] == [["ok"]]


def test_without_room_for_temporary_files_nothing_is_begun(told):
    code, said, totals, files = told["no temporary folder"]
    assert code == 2 and "No sandbox" in said and "No space left on device" in said and "TMPDIR" in said
    assert "Traceback" not in said and (totals, files) == tuple(told["full again"][2:])


def test_results_can_be_written_to_a_device_and_one_that_is_full_is_said(tmp_path):
    """Not to /dev/full by its own name: a fault here would put a file in its place."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", "text")
    assert os.read(reader, 100) == b"text" and (tmp_path / "pipe").is_fifo()
    os.close(reader)
    os.symlink("/dev/full", tmp_path / "full")
    with pytest.raises(OSError, match="No space left"):
        write_atomically(tmp_path / "full", "text")
    assert sorted(os.listdir(tmp_path)) == ["full", "pipe"]
