"""Control groups: where they are made, and what becomes of those that a killed grader has left."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import Limits, SandboxFailed, box, groups
from autograder.sandbox.limits import LEAST, SPARE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")


def test_groups_of_version_2_are_made_where_an_ancestor_lets_us(tmp_path, monkeypatch):
    """Feigned, so that it is tried also where the kernel has version 1: files appear in a new folder as the kernel makes them."""
    real = Path.mkdir

    def mkdir(folder, *arguments):
        real(folder, *arguments)
        if "memory" in (folder.parent / "cgroup.subtree_control").read_text():
            for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.procs"):
                (folder / name).touch()

    own = tmp_path / "a" / "b"
    own.mkdir(parents=True)
    (tmp_path / "cgroup.controllers").write_text("memory pids\n")
    for folder, passed_on in ((own, ""), (own.parent, "memory pids"), (tmp_path, "memory pids")):
        (folder / "cgroup.subtree_control").write_text(passed_on)
        (folder / "cgroup.procs").touch()
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(groups, "own_paths", lambda: [("", "a/b")])
    (made,) = groups.make(Limits(memory=5 << 20, processes=7), tmp_path)
    assert Path(made).parent == own.parent and not list(own.glob("grading-*"))
    assert [Path(made, name).read_text() for name in ("memory.max", "pids.max", "memory.oom.group")] == [
        str(5 << 20), str(7 + groups.SPARE), "1"]


@pytest.mark.parametrize(("kind", "controllers"), [("", ""), ("pids", "cpu,pids")])
def test_there_is_room_for_what_the_own_group_and_all_above_it_leave(kind, controllers, tmp_path, monkeypatch):
    own = tmp_path / kind / "a" / "b"
    own.mkdir(parents=True)
    for folder, most, now in ((own, "max", "3"), (own.parent, "40", "10"), (own.parents[1], "400", "10")):
        (folder / "pids.max").write_text(most + "\n")
        (folder / "pids.current").write_text(now + "\n")
    monkeypatch.setattr(groups, "own_paths", lambda: [(controllers, "a/b")])
    assert groups.room(tmp_path) == (30, str(own.parent))
    (own.parent / "pids.max").write_text("max\n")
    assert groups.room(tmp_path) == (390, str(own.parents[1]))
    assert groups.room(tmp_path / "nothing") == (math.inf, "")


def test_few_processes_are_shared_out_and_too_few_refused_with_the_group_that_has_them(monkeypatch):
    monkeypatch.setattr(box, "room", lambda: (SPARE + 2 * LEAST + 1, "/sys/fs/cgroup/pids/here"))
    assert box.in_the_room_there_is(Limits(), 2).processes == LEAST
    with pytest.raises(SandboxFailed, match=r"fewer `--jobs`, or a higher /sys/fs/cgroup/pids/here/pids.max"):
        box.in_the_room_there_is(Limits(), 3)


def test_a_group_of_a_grader_that_was_killed_is_deleted_by_the_next():
    made = groups.make(Limits())
    if not made:
        return
    gone_by = subprocess.Popen(["true"])
    gone_by.wait()
    old = Path(made[0]).with_name(f"grading-{gone_by.pid}-0a")
    old.mkdir()
    groups.remove(made)
    groups.remove(groups.make(Limits()))
    assert not old.exists() and not Path(made[0]).exists()
