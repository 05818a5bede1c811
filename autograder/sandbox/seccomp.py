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
    "shmget": (29, 194), "vmsplice": (278, 75), "seccomp": (317, 277),
    # what the kernel counts for a user, who may be the grader's own, or for the whole machine
    "inotify_init": (253, None), "inotify_init1": (294, 26), "io_setup": (206, 0),
}
IGNORED = {"sync": (162, 81), "syncfs": (306, 267)}  # they succeed and do nothing: the disks are the grader's
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE, _SOCKET, _SOCKETPAIR, _IOCTL, _CLONE3 = (56, 220), (41, 198), (53, 199), (16, 29), (435, 435)
_FLOCK, _FCNTL, _PRCTL, _SET_OPTION, _EPOLL_CTL = (73, 32), (72, 25), (157, 167), (54, 208), (233, 21)
_NEWEST = 462  # mseal; what came later was not looked at
_NEW_NAMESPACES = 0x7E020000
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _TCP, _UDP, _KIND_OF_SOCKET = 1, 2, 6, 17, 0xF
# set a lock, wait for one, both of an open file, a lease, a watch of a folder: on files that every session and the machine share
_LOCKS = 6, 7, 37, 38, 1024, 1026
_SOCKET_LEVEL, _IPV6_LEVEL = 1, 41
_SIZES = 7, 8  # of a socket's buffers
# by level: reuse, broadcast, keep alive, linger, reuse port, credentials, time limits (by 32 and by 64 bits); of TCP what is a
# number in the socket itself; of IPv6 that it is alone. Others can keep memory that is counted nowhere, or pages given back
_OPTIONS = {_SOCKET_LEVEL: (2, 6, 9, 13, 15, 16, 20, 21, 66, 67), _TCP: (*range(1, 11), 12, 18), _IPV6_LEVEL: (26,)}
_SET_SECCOMP, _ADD = 22, 1  # of prctl and of epoll_ctl
_TYPE_INTO_TERMINAL, _LINUX_CONSOLE = 0x5412, 0x541C
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _MACHINE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32  # places in seccomp_data; of an argument the lower half
_ALLOW, _KILL, _ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
_NO_ERROR = 0


def _refuse(number):
    return _RETURN, 0x00050000 | number


def filter_program(machine: str) -> bytes:
    """The program for `platform.machine()`; KeyError where its calls are not in the table.

    What is denied gets EPERM; clone3, whose flags no filter can read, and calls newer than the table get ENOSYS, at which
    libraries fall back; there are no locks on files (ENOLCK); sockets are unix, TCP and UDP, and netlink's route, with buffers of
    the sizes that they come with; what is added to an epoll is asked of who listens, ENOSYS without one; other ABIs are killed.
    """
    column, architecture = MACHINES[machine]
    unless = [  # (operation, operand, what to return where it holds)
        (_AT_LEAST, _X32, (_RETURN, _KILL)),
        (_EQUAL, _CLONE3[column], _refuse(errno.ENOSYS)),
        (_AT_LEAST, _NEWEST + 1, _refuse(errno.ENOSYS)),
        *((_EQUAL, numbers[column], _refuse(errno.EPERM)) for numbers in DENIED.values() if numbers[column] is not None),
        *((_EQUAL, numbers[column], _refuse(_NO_ERROR)) for numbers in IGNORED.values()),
        (_EQUAL, _FLOCK[column], _refuse(errno.ENOLCK)),
    ]
    program = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    for operation, operand, (give, value) in unless:
        program += [(operation, 0, 1, operand), (give, 0, 0, value)]
    program += _when(_CLONE[column], [
        (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _denied(errno.EPERM)])
    program += _when(_IOCTL[column], [
        (_LOAD, 0, 0, _SECOND), (_EQUAL, 1, 0, _TYPE_INTO_TERMINAL), (_EQUAL, 0, 1, _LINUX_CONSOLE), _denied(errno.EPERM)])
    program += _when(_SOCKETPAIR[column], [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, _UNIX), _denied(errno.EAFNOSUPPORT)])
    program += _when(_FCNTL[column], [(_LOAD, 0, 0, _SECOND), *_any_of(_LOCKS, _refuse(errno.ENOLCK))])
    program += _when(_PRCTL[column], [(_LOAD, 0, 0, _FIRST), *_any_of([_SET_SECCOMP], _refuse(errno.EPERM))])
    program += _when(_EPOLL_CTL[column], [(_LOAD, 0, 0, _SECOND), *_any_of([_ADD], (_RETURN, _ASK))])
    program += _when(_SOCKET[column], [
        (_LOAD, 0, 0, _FIRST), *_any_of([_UNIX], (_RETURN, _ALLOW)),
        (_EQUAL, 6, 0, _INET), (_EQUAL, 5, 0, _INET6), (_EQUAL, 0, 3, _NETLINK),
        (_LOAD, 0, 0, _THIRD), *_any_of([0], (_RETURN, _ALLOW)), _denied(errno.EAFNOSUPPORT),
        # a type or a protocol that is not there would make the machine look for a module
        (_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _KIND_OF_SOCKET), (_EQUAL, 2, 0, _STREAM), (_EQUAL, 1, 0, _DATAGRAM),
        _denied(errno.ESOCKTNOSUPPORT),
        (_LOAD, 0, 0, _THIRD), *_any_of([0, _TCP, _UDP], (_RETURN, _ALLOW)), _denied(errno.EPROTONOSUPPORT)])
    settings = []
    for level, options in _OPTIONS.items():
        found = [(_LOAD, 0, 0, _THIRD), *_any_of(options, (_RETURN, _ALLOW))]
        settings += [(_LOAD, 0, 0, _SECOND), (_EQUAL, 0, len(found), level), *found]
    sizes = [(_LOAD, 0, 0, _THIRD), *_any_of(_SIZES, _refuse(_NO_ERROR))]
    program += _when(_SET_OPTION[column], [
        *settings, (_LOAD, 0, 0, _SECOND), (_EQUAL, 0, len(sizes), _SOCKET_LEVEL), *sizes, _denied(errno.ENOPROTOOPT)])
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", code, yes, no, value) for code, yes, no, value in program)


def _any_of(values, found):
    """Return so where what is loaded is one of these values; else go on behind this."""
    give, value = found
    return [step for one in values for step in ((_EQUAL, 0, 1, one), (give, 0, 0, value))]


def _denied(number):
    give, value = _refuse(number)
    return give, 0, 0, value


def _when(number, rules):
    """Rules for one call, whose number is loaded; they end with `allowed`, all other calls pass them by."""
    return [(_EQUAL, 0, len(rules) + 1, number), *rules, (_RETURN, 0, 0, _ALLOW)]
