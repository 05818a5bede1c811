"""Locks that keep other graders out: of a student's folder, and of a gradebook that is being prepared."""

import contextlib
import os
from pathlib import Path

from sqlalchemy import create_engine, text

LOCK = 0x70697065  # any number that no other program takes for a lock in the same database


@contextlib.contextmanager
def alone(folder):
    """One program at a time in a folder; the lock goes with the program that holds it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone_with(gradebook, url):
    """One program at a time that prepares this gradebook, from wherever; the lock goes with the program that holds it."""
    if "://" not in gradebook:
        with alone(Path(gradebook).resolve().parent):
            yield
        return
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            if engine.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_lock(:number)"), {"number": LOCK})
            yield
    finally:
        engine.dispose()
