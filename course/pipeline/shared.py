"""Whole numbers in memory that the caller and its workers share."""

import mmap
import os
import weakref
from multiprocessing import get_context, reduction


def shared_numbers(count: int):
    """A row of zeros that can be handed to a worker process when it starts."""
    try:
        file = os.memfd_create("course-pipeline")
    except (AttributeError, OSError):
        return get_context().RawArray("q", count)  # takes a file in /dev/shm or in the temporary folder
    return _Numbers(count, file)


class _Numbers:
    """Linux's memory without a name: it needs no folder, and nothing of it can be left behind."""

    def __init__(self, count, descriptor):
        self._count, self._file = count, descriptor
        weakref.finalize(self, os.close, descriptor)
        os.truncate(descriptor, count * 8)
        self._numbers = memoryview(mmap.mmap(descriptor, count * 8)).cast("q")

    def __getitem__(self, index):
        return self._numbers[index]

    def __setitem__(self, index, number):
        self._numbers[index] = number

    def __reduce__(self):
        return _rebuilt, (self._count, reduction.DupFd(self._file))


def _rebuilt(count, duplicate):
    return _Numbers(count, duplicate.detach())
