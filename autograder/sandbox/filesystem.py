"""The file system of a sandbox: the system, the interpreter and `course`, read-only; small writable folders of its own."""

import os
import re
import site
import sys
from pathlib import Path

import course
from autograder.sandbox import linux
from autograder.sandbox.limits import Limits

COURSE = Path(course.__file__).resolve().parent
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives", "/etc/ld.so.cache",
          "/sys/devices/system/cpu")
DEVICES = ("full", "null", "random", "urandom", "zero")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
WORK, USER = "/home/learner", 1000
WRITABLE = {"/tmp": "temporary", "/dev/shm": "shared_memory", WORK: "work"}  # folders and the fields of Limits
FILES = {"passwd": f"learner:x:{USER}:{USER}::{WORK}:/bin/sh\n", "group": f"learner:x:{USER}:\n",
         "hosts": "127.0.0.1 localhost box\n::1 localhost\n", "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"}
INODES = 20_000  # an empty file costs memory, too
_STAGE, _NEW, _OLD = "/tmp", "/new", "/old"  # a folder that every system has, for the moment of building
_FLAGS = {"ro": linux.READ_ONLY, "nosuid": linux.NO_SUID, "nodev": linux.NO_DEVICES, "noexec": linux.NO_PROGRAMS,
          "noatime": 1 << 10, "nodiratime": 1 << 11, "relatime": 1 << 21}


def shown() -> dict[str, str]:
    """Paths that a submission sees, each with its real place on this machine: what Python, its packages and `course` need."""
    packages = [path for path in {*site.getsitepackages(), site.getusersitepackages()} if path in sys.path]
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, Path(sys.executable).resolve().parents[1]]
    nominal = map(os.path.abspath, [*SYSTEM, *prefixes, *packages, COURSE])
    return {path: os.path.realpath(path) for named in nominal for path in (named, os.path.realpath(named))
            if os.path.exists(path) and os.path.realpath(path) != "/"}


def hidden(paths=()) -> list[str]:
    """What is covered where it lies inside a shown folder: the repository around `course`, and `paths`."""
    repository = [COURSE.parent] if (COURSE.parent / "pyproject.toml").exists() else []
    return sorted({os.path.realpath(path) for path in [*repository, *paths]} - {*shown()})


def out_of_sight(show, hide, most: int = 100) -> list[str]:
    """Paths that exist here and must not be readable inside: the hidden files, and what lies in hidden folders unless shown."""
    within = [os.path.join(path, name) for path in hide if os.path.isdir(path) for name in sorted(os.listdir(path))[:most]]
    return [path for path in [*within, *filter(os.path.isfile, hide)]
            if not any((place + "/").startswith(path + "/") for place in show)]


def enter(show: dict[str, str], hide: list[str]):
    """Build the root of all sessions in this mount namespace, /proc for this pid namespace, and move into it for good."""
    linux.mount(None, "/", None, linux.RECURSIVE | linux.PRIVATE)
    _temporary(_STAGE, "1m", "755")
    for folder in (_NEW, _OLD):
        os.mkdir(_STAGE + folder)
    linux.pivot_root(_STAGE, _STAGE + _OLD)
    os.chdir("/")
    _temporary(_NEW, "4m", "755")
    for path in sorted([*show, *hide], key=lambda path: (path.count("/"), path)):  # what contains comes before what it contains
        if path in show:
            _show(_OLD + show[path], _NEW + path)
        elif os.path.lexists(_NEW + path):
            _cover(_NEW + path)
    _furnish()
    _make_read_only()
    os.chdir(_NEW)
    linux.pivot_root(".", ".")  # the old root now lies on top of the new one
    linux.detach(".")


def renew(show: dict[str, str], limits: Limits):
    """In a session's own mount namespace: fresh writable folders, and /proc for its pid namespace; go to the home folder."""
    below = {path: os.open(path, os.O_PATH) for path in show if any((path + "/").startswith(top + "/") for top in WRITABLE)}
    for folder, field in WRITABLE.items():
        _temporary(folder, getattr(limits, field), "1777")
    for path in sorted(below, key=len):
        _show(f"/proc/self/fd/{below[path]}", path)
    linux.mount("proc", "/proc", "proc", linux.NO_SUID | linux.NO_DEVICES | linux.NO_PROGRAMS)
    for place in filter(os.path.exists, ("/proc/sys", "/proc/sysrq-trigger")):
        linux.mount(place, place, None, linux.BIND)
        linux.mount(None, place, None, linux.BIND | linux.REMOUNT | linux.READ_ONLY | linux.NO_SUID | linux.NO_DEVICES
                    | linux.NO_PROGRAMS)
    os.chdir(WORK)


def _temporary(target, size, mode):
    linux.mount("tmpfs", target, "tmpfs", linux.NO_SUID | linux.NO_DEVICES, f"size={size},mode={mode},nr_inodes={INODES}")


def _show(source, target):
    if os.path.islink(target):  # a link inside a folder that is shown already
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    linux.mount(source, target, None, linux.BIND | linux.RECURSIVE)


def _cover(target):
    if os.path.isdir(target):
        _temporary(target, "1m", "755")
    else:
        linux.mount(f"{_OLD}/dev/null", target, None, linux.BIND)


def _furnish():
    for folder in ("/proc", "/etc", *WRITABLE):
        os.makedirs(_NEW + folder, exist_ok=True)
    for name, text in FILES.items():
        Path(_NEW, "etc", name).write_text(text)
    for name in DEVICES:
        Path(_NEW, "dev", name).touch()
        linux.mount(f"{_OLD}/dev/{name}", f"{_NEW}/dev/{name}", None, linux.BIND)
    for name, target in LINKS.items():
        os.symlink(target, f"{_NEW}/dev/{name}")
    linux.mount("proc", f"{_NEW}/proc", "proc", linux.NO_SUID | linux.NO_DEVICES | linux.NO_PROGRAMS)


def _make_read_only():
    """Every mount of the new root but /proc; flags of the original that are locked must be kept."""
    with open(f"{_NEW}/proc/self/mountinfo", "rb") as lines:
        for line in lines:
            fields = line.split()
            place = os.fsdecode(re.sub(rb"\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), fields[4]))
            if (place + "/").startswith(f"{_NEW}/") and not (place + "/").startswith(f"{_NEW}/proc/"):
                flags = sum(_FLAGS.get(option, 0) for option in {*fields[5].decode().split(","), "ro", "nosuid"})
                no_devices = 0 if place.startswith(f"{_NEW}/dev/") else linux.NO_DEVICES
                linux.mount(None, place, None, linux.BIND | linux.REMOUNT | flags | no_devices)
