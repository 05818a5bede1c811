"""A stranger's files as data: no link is followed, nothing is waited for, and only regular files of a bounded size are read."""

import os
import stat
import unicodedata
from collections.abc import Iterable
from pathlib import Path

MAX_BYTES = 20_000_000  # of a notebook
NO_FOLLOW = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


class Rejected(ValueError):
    """A submission or a file of it that is not taken; the text says why."""


def shown(name: str) -> str:
    """A stranger's file name as one harmless line.

    >>> shown("\\x1b[2J")
    "'\\\\x1b[2J'"
    """
    return repr(os.fsencode(name).decode("utf-8", "replace")[:80])


def alike(names: Iterable[str]) -> dict[str, list[str]]:
    """Of different names that look alike on a screen, or differ in capitals alone: each, and the others.

    >>> alike(["s1", "S\N{FULLWIDTH DIGIT ONE}", "s2"])
    {'s1': ['S１'], 'S１': ['s1']}
    """
    same = {}
    for name in dict.fromkeys(names):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        same.setdefault(folded, []).append(name)
    return {name: [other for other in group if other != name] for group in same.values() if len(group) > 1 for name in group}


def kind_of(mode: int) -> str:
    """What a file's mode says that it is."""
    kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
             stat.S_IFREG: "a file"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def read_file(path: Path, most: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file. Rejected where it is none, cannot be opened, or has more than `most` bytes."""
    try:
        if not stat.S_ISREG(mode := os.lstat(path).st_mode):
            raise Rejected(f"{shown(path.name)} is {kind_of(mode)}, not a file")
        handle = os.open(path, os.O_RDONLY | NO_FOLLOW)
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise Rejected(f"{shown(path.name)} is {kind_of(about.st_mode)}, not a file")
            data = file.read(most + 1) if about.st_size <= most else b""
    except OSError as error:
        raise Rejected(f"{shown(path.name)} cannot be opened: {error.strerror}") from None
    if max(len(data), about.st_size) > most:
        raise Rejected(f"{shown(path.name)} has {about.st_size / 1e6:.0f} MB, and {most / 1e6:.0f} MB are allowed: "
                       "clear its outputs and save it")
    return data


def said(error: Exception) -> str:
    """What an error says, as one short and harmless line; its kind where it says nothing.

    >>> said(ValueError("not a\\nzip")), said(MemoryError())
    ('not a zip', 'MemoryError')
    """
    text = " ".join(str(getattr(error, "strerror", None) or error).split())[:80]
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text) or type(error).__name__
