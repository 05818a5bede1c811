"""Temporary folders of graders: each is locked by its own, and what a killed one has left is deleted by the next."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX, SECRET = "pipeline-parallelism-grader-", "secret"
NEW = 60  # seconds: a younger one may be about to be locked


@contextlib.contextmanager
def bait_folder() -> Iterator[Path]:
    """A folder with a file of SECRET in it, deleted afterwards. OSError when there is no room for it."""
    remove_orphans(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name, _locked(name):
        Path(name, SECRET).write_text("a secret\n")
        yield Path(name)


@contextlib.contextmanager
def _locked(folder):
    """The lock goes with the process that holds it; OSError while another does."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def remove_orphans(place: Path, new: float = NEW):
    """Delete the folders in this place whose graders are gone, and nothing else that lies in them."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, in use, or with more in it than is ours
            if time.time() - folder.lstat().st_mtime > new:
                with _locked(folder):
                    (folder / SECRET).unlink(missing_ok=True)
                    folder.rmdir()
