"""Makes a child process a normal user's, also where these tests run as root and the interpreter lies below root's own folder."""

import os
import sys
from pathlib import Path

from autograder.sandbox import linux

NOBODY = 65534
ROOT = Path(__file__).parents[1]


def environment() -> dict:
    """That of a process that finds what this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}


def become_nobody(uid=NOBODY):
    """For `preexec_fn`, as root: no rights at all, in a mount namespace where interpreter and checkout are in reach."""
    linux.unshare("mnt")
    linux.mount(None, "/", None, linux.RECURSIVE | linux.PRIVATE)
    for path in {sys.base_prefix, sys.prefix, str(ROOT)}:
        closed = [parent for parent in reversed(Path(path).parents) if not parent.stat().st_mode & 1]
        if closed:
            kept = os.open(path, os.O_PATH)
            linux.mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=755")
            os.makedirs(path)
            linux.mount(f"/proc/self/fd/{kept}", path, None, linux.BIND | linux.RECURSIVE)
            os.close(kept)
    os.environ["HOME"] = "/nonexistent"
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
