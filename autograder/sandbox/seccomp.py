"""The filter of system calls: a list of what nobody needs here, as classic BPF for seccomp(2)."""

import errno
import struct

# name: number on x86-64, number on aarch64 (None where there is none); from the kernel's tables of system calls
DENIED = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433),
    "init_module": (175, 105), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioperm": (173, None), "iopl": (172, None), "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "listmount": (458, 458), "lookup_dcookie": (212, 18), "modify_ldt": (154, None), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41), "process_madvise": (440, 440), "process_mrelease": (448, 448), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "reboot": (169, 142), "request_key": (249, 218), "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268),
    "settimeofday": (164, 170), "statmount": (457, 457), "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116),
    "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282), "uselib": (134, None), "vhangup": (153, 58),
    # memory that no sized file system and no count of resident pages sees
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "mq_open": (240, 180), "msgget": (68, 186), "semget": (64, 190),
    "shmget": (29, 194),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE, _SOCKET, _SOCKETPAIR, _IOCTL, _CLONE3 = (56, 220), (41, 198), (53, 199), (16, 29), (435, 435)
_NEWEST = 462  # mseal; what came later was not looked at
_NEW_NAMESPACES = 0x7E020000
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_TYPE_INTO_TERMINAL, _LINUX_CONSOLE = 0x5412, 0x541C
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32  # places in seccomp_data; of an argument the lower half
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


def _refuse(number):
    return _RETURN, 0x00050000 | number


def filter_program(machine: str) -> bytes:
    """The program for `platform.machine()`; KeyError where its calls are not in the table.

    What is denied gets EPERM; clone3, whose flags no filter can read, and calls newer than the table get ENOSYS, at which
    libraries fall back; sockets are of the families unix, inet, inet6 and netlink's route; other ABIs are killed.
    """
    column, architecture = MACHINES[machine]
    unless = [  # (operation, operand, what to return where it holds)
        (_AT_LEAST, _X32, (_RETURN, _KILL)),
        (_EQUAL, _CLONE3[column], _refuse(errno.ENOSYS)),
        (_AT_LEAST, _NEWEST + 1, _refuse(errno.ENOSYS)),
        *((_EQUAL, numbers[column], _refuse(errno.EPERM)) for numbers in DENIED.values() if numbers[column] is not None),
    ]
    program = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    for operation, operand, (give, value) in unless:
        program += [(operation, 0, 1, operand), (give, 0, 0, value)]
    program += _when(_CLONE[column], [
        (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _denied(errno.EPERM)])
    program += _when(_IOCTL[column], [
        (_LOAD, 0, 0, _SECOND), (_EQUAL, 1, 0, _TYPE_INTO_TERMINAL), (_EQUAL, 0, 1, _LINUX_CONSOLE), _denied(errno.EPERM)])
    program += _when(_SOCKETPAIR[column], [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, _UNIX), _denied(errno.EAFNOSUPPORT)])
    program += _when(_SOCKET[column], [
        (_LOAD, 0, 0, _FIRST), (_EQUAL, 5, 0, _UNIX), (_EQUAL, 4, 0, _INET), (_EQUAL, 3, 0, _INET6), (_EQUAL, 0, 3, _NETLINK),
        (_LOAD, 0, 0, _THIRD), (_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), _denied(errno.EAFNOSUPPORT)])
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", code, yes, no, value) for code, yes, no, value in program)


def _denied(number):
    give, value = _refuse(number)
    return give, 0, 0, value


def _when(number, rules):
    """Rules for one call, whose number is loaded; they end with `allowed`, all other calls pass them by."""
    return [(_EQUAL, 0, len(rules) + 1, number), *rules, (_RETURN, 0, 0, _ALLOW)]
