"""Control groups: where they are made, and what becomes of those that a killed grader has left."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import Limits, groups

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
