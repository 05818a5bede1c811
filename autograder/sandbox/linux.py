"""The system calls of Linux that Python does not offer, by ctypes."""

import contextlib
import ctypes
import os
import platform
import struct

NAMESPACES = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
              "pid": 0x20000000, "net": 0x40000000}
TO_CHANGE_USER = {"CAP_SYS_ADMIN": 21, "CAP_SETUID": 7, "CAP_SETGID": 6}  # what root needs to lock in another user
READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_HUGE, _COLLAPSE = 2 << 20, 25
_PARENT_DEATH_SIGNAL, _DUMPABLE, _SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT = 1, 4, 22, 24, 38, 47
_FILTER, _CLEAR_ALL, _CAPABILITIES_3 = 2, 4, 0x20080522
_SECCOMP_CALL, _SET_FILTER, _NEW_LISTENER = {"x86_64": 317, "aarch64": 277}, 1, 8


def _call(name, *arguments, about=""):
    """One function of libc, whole numbers as unsigned long. OSError with its name when it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    if getattr(libc, name)(*given) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{about}: {os.strerror(number)}")


def own_status() -> dict[str, str]:
    """What the kernel says of this process, by its names: /proc/self/status."""
    with open("/proc/self/status") as lines:
        return {name: text.strip() for name, _, text in (line.partition(":") for line in lines)}


def pid_of(handle: int) -> int:
    """The number, here, of the process of a pidfd; -1 when it has ended."""
    with open(f"/proc/self/fdinfo/{handle}") as lines:
        return next(int(text) for name, _, text in (line.partition(":") for line in lines) if name == "Pid")


def unshare(*names: str):
    """Leave these namespaces for new ones."""
    _call("unshare", sum(map(NAMESPACES.__getitem__, names)), about=f" of {', '.join(names)}")


def enter_namespace(descriptor: int, name: str):
    """Enter the namespace of this kind that is open; that of processes is for children only."""
    _call("setns", descriptor, NAMESPACES[name], about=f" of {name}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None):
    """mount(2)."""
    source, where, kind, data = (text if text is None else os.fsencode(text) for text in (source, target, kind, data))
    _call("mount", source, where, kind, flags, data, about=f" at {target}")


def pivot_root(new: str, old: str):
    """Make `new` the root and put the old one at `old`."""
    _call("pivot_root", os.fsencode(new), os.fsencode(old))


def detach(target: str):
    """Unmount, also what is in use."""
    _call("umount2", os.fsencode(target), _DETACH, about=f" of {target}")


def set_host_name(name: str):
    """The name of this machine, as this uts namespace sees it."""
    _call("sethostname", name.encode(), len(name))


def die_with_parent(signal: int):
    """Get this signal when the parent ends. Changing the user id clears it."""
    _call("prctl", _PARENT_DEATH_SIGNAL, signal, 0, 0, 0)


def set_dumpable(on: bool):
    """Whether processes of the same user may look into this one; changing the user id clears it."""
    _call("prctl", _DUMPABLE, int(on), 0, 0, 0)


def drop_capabilities():
    """Give up every capability, for what this process starts as well."""
    for number in range(64):
        try:
            _call("prctl", _DROP_BOUNDING, number, 0, 0, 0)
        except OSError:  # past the last one of this kernel
            break
    _call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call("capset", struct.pack("<Ii", _CAPABILITIES_3, 0), bytes(24))


def collapse_memory():
    """Put this process's own memory into huge pages where the kernel can (6.1): a fork then copies far fewer entries."""
    with open("/proc/self/maps") as lines:
        own = [line.split()[0].split("-") for line in lines if " rw-p " in line and " 00:00 0 " in line]
    for start, end in ([int(text, 16) for text in pair] for pair in own):
        start, end = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if end > start:
            with contextlib.suppress(OSError):
                _call("madvise", start, end - start, _COLLAPSE)


def set_filter(program: bytes) -> int | None:
    """Install a seccomp filter of 8-byte instructions; it needs no_new_privs, which drop_capabilities sets.

    The descriptor where calls that it does not decide are asked about; None where the kernel gives none, and they fail.
    """
    kept = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept)))
    libc = ctypes.CDLL(None, use_errno=True)
    number = _SECCOMP_CALL[platform.machine()]
    listener = libc.syscall(*map(ctypes.c_long, (number, _SET_FILTER, _NEW_LISTENER, ctypes.addressof(header))))
    if listener >= 0:
        return listener
    _call("prctl", _SECCOMP, _FILTER, header, 0, 0)
    return None
