"""Attacks on the grader's machine. Each is one cell that leaves in `x` what it has got, an empty text when nothing.

The cells find the names of Range and what Range.cell() defines.
"""

import textwrap
from dataclasses import asdict, dataclass

from autograder.sandbox.epolls import MOST
from autograder.sandbox.seccomp import DENIED, MACHINES


@dataclass(frozen=True)
class Range:
    """What the attacks aim at: a secret file, folders, a listener, an abstract socket and a process, all the grader's.

    `word` stands in that process's environment and arguments; memory and room (for files) are in bytes, `files` may be open.
    """

    secret: str
    folders: tuple[str, ...]
    address: tuple[str, int]
    abstract: str
    process: int
    word: str
    memory: int
    processes: int
    files: int
    room: int

    def cell(self) -> str:
        """The cell that goes before an attack."""
        return "".join(f"{name} = {value!r}\n" for name, value in asdict(self).items()) + TOOLS


TOOLS = textwrap.dedent("""
    import ctypes, errno, glob, mmap, os, platform, select, signal, socket, subprocess, sys, threading, time
    libc = ctypes.CDLL(None, use_errno=True)

    def tried(function, *arguments):
        try:
            return function(*arguments) or "done"
        except (OSError, ValueError, MemoryError, RuntimeError):
            return ""

    def read(path):
        with open(path, "rb") as file:
            return file.read(100_000)

    def plant(folder):
        with open(os.path.join(folder, "planted"), "w") as file:
            file.write("planted")
        return folder

    def all_that(function, things):
        return " ".join(str(thing) for thing in things if tried(function, thing))

    def find_word(path):
        if word.encode() not in read(path):
            raise ValueError

    def told(number, work):
        '''How many of so many children said that they did their work and are there still, with what they hold.'''
        heard, say = os.pipe()
        for _ in range(number):
            try:
                if os.fork() == 0:
                    try:
                        kept = work()
                        os.write(say, b"%9d" % os.getpid())
                        time.sleep(60)
                    finally:
                        os._exit(0)
            except OSError:
                break
        os.close(say)
        os.set_blocking(heard, False)
        words, until = b"", time.monotonic() + 4
        while len(words) < 9 * number and time.monotonic() < until:
            part = tried(os.read, heard, 4096)
            if part == "done":  # all have ended
                break
            words += part or b""
            time.sleep(0.02)
        pids = [int(words[place:place + 9]) for place in range(0, len(words) - 8, 9)]
        return sum(os.waitpid(pid, os.WNOHANG)[0] == 0 for pid in pids)
    """)
_NUMBERS = {machine: {name: numbers[column] for name, numbers in DENIED.items() if numbers[column] is not None}
            for machine, (column, _) in MACHINES.items()}

# what would succeed, and harm nothing that is not the grader's own bait, where no sandbox is
HARMLESS = {
    "read a file of the grader's": "x = all_that(read, [secret])",
    "list the grader's folders": "x = all_that(os.listdir, folders)",
    "write beside the grader's files": "x = all_that(plant, folders)",
    "read another process's environment": "x = all_that(find_word, glob.glob('/proc/[0-9]*/environ'))",
    "read another process's arguments": "x = all_that(find_word, glob.glob('/proc/[0-9]*/cmdline'))",
    "end another process": "x = all_that(lambda pid: os.kill(pid, signal.SIGKILL), [process])",
    "connect to a port of the grader's": "x = all_that(lambda at: socket.create_connection(at, 2), [address])",
    "connect to an abstract socket": "x = all_that(socket.socket(socket.AF_UNIX).connect, [abstract])",
    "make a namespace": "x = '' if libc.unshare(0x10000000) else 'a user namespace'",
    "hold memory in no file system": "x = all_that(lambda name: os.memfd_create(name), ['memory'])",
    "keep memory in segments": "x = '' if libc.shmget(0, 1 << 20, 0o600) == -1 else 'a segment'",
    "lock a file of everybody's": """
import course, fcntl
file = open(course.__file__)
x = all_that(lambda lock: lock(file, fcntl.LOCK_SH), [fcntl.flock, fcntl.lockf])
x += all_that(lambda command: fcntl.fcntl(file, command, bytes(32)), [fcntl.F_SETLK, 37])""",
    "talk to the kernel by rare sockets": "x = all_that(lambda family: socket.socket(family, socket.SOCK_RAW, 15), [16])",
}
HARMFUL = {
    "end every process": "os.kill(-1, signal.SIGKILL)",
    "end its parent": """
parent = os.getppid()
x = f"process {parent}" if parent and tried(os.kill, parent, signal.SIGKILL) else \"\"""",
    "look through the first process": """
x = all_that(os.listdir, ["/proc/1/root" + folder for folder in folders]) + all_that(find_word, ["/proc/1/environ"])
pages = [line.split()[0].split("-") for line in open("/proc/1/maps") if "rw-p" in line] if os.getpid() != 1 else []
x += " its memory" * bool(pages)""",
    "reach another machine": """
x = all_that(lambda at: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(at), [("192.0.2.1", 53), ("8.8.8.8", 53)])
x += all_that(lambda name: socket.getaddrinfo(name, 80), ["example.org"])""",
    "mount a file system": """
x = " ".join(kind.decode() for kind in (b"tmpfs", b"proc", b"overlay") if libc.mount(kind, b"/tmp", kind, 0, None) == 0)
x += " the whole machine" * (libc.mount(b"/", b"/tmp", None, 4096, None) == 0)""",
    "become root": "x = all_that(lambda call: call(0), [os.setuid, os.setgid, os.seteuid])",
    "write to the system": "x = all_that(plant, ['/', '/usr', '/etc', '/usr/bin', '/proc', '/dev', sys.prefix, sys.base_prefix])",
    "write to the course": "import course; x = all_that(plant, [os.path.dirname(course.__file__)])",
    "change settings of the kernel": """
x = all_that(lambda path: os.open(path, os.O_WRONLY), ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/proc/sys/vm/drop_caches", "/proc/sys/kernel/hostname"])""",
    "open devices": """
tried(os.mknod, "/tmp/disk", 0o60666, os.makedev(8, 0))
x = all_that(lambda path: os.open(path, os.O_RDONLY), ["/tmp/disk", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse",
             "/dev/kvm", "/dev/tty", "/dev/console"])""",
    "hold descriptors of the grader's": """
links = [os.readlink(path) for path in glob.glob("/proc/self/fd/*") if os.path.lexists(path)]
x = " ".join(link for link in links if not link.startswith(("pipe:", "/dev/null", "/proc/")))""",
    "find words in the own environment": "x = ' '.join(name for name in os.environ if word in os.environ[name])",
    "make system calls that nobody needs": f"""
numbers = {_NUMBERS!r}[platform.machine()]
def refused(name):
    return libc.syscall(numbers[name], -1, -1, -1, -1, -1, -1) == -1 and ctypes.get_errno() == errno.EPERM
x = " ".join(name for name in numbers if not refused(name))""",
    "take memory in one process": """
kept = []
while len(kept) << 24 < 3 * memory:
    kept.append(b"x" * (1 << 24))
x = f"{len(kept) << 4} MiB\"""",
    "take memory in many processes": """
got = told(8, lambda: b"x" * (memory // 4))
x = f"{got} quarters" if got > 4 else \"\"""",
    "take shared memory": """
kept = mmap.mmap(-1, 3 * memory)
for place in range(0, 3 * memory, 4096):
    kept[place] = 1
x = f"{3 * memory >> 20} MiB\"""",
    "take memory in sockets": """
def fill():
    kept, total = [], 0
    while total < memory // 36:
        kept.append(socket.socketpair())
        for end in kept[-1]:
            end.setblocking(False)
            tried(lambda: [end.send(bytes(1 << 16)) for _ in range(1000)])
            total += 3 << 16
    return kept
got = told(45, fill)
x = f"{got} thirty-sixths" if got > 40 else \"\"""",
    "take memory in TCP": """
def fill():
    kept, total = [], 0
    listener = socket.socket()
    tried(listener.setsockopt, socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    while total < memory // 24:
        sender = socket.socket()
        tried(sender.setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        sender.connect(listener.getsockname())
        kept += [sender, listener.accept()[0]]
        sender.setblocking(False)
        for _ in range(20):
            total += tried(sender.send, bytes(1 << 20)) or 0
            time.sleep(0.002)
    return kept
got = told(40, fill)
x = f"{got} twenty-fourths" if got > 27 else \"\"""",
    "take memory in files and beside them": """
total = 0
for folder in ("/tmp", "/dev/shm", os.getcwd()):
    for number in range(10):
        with open(f"{folder}/fill-{number}", "wb", buffering=0) as file:
            try:
                while total < memory // 2:
                    total += file.write(bytes(1 << 20))
            except OSError:
                continue
kept = [b"x" * (1 << 24) for _ in range(3 * memory >> 26)]
time.sleep(2)
total += len(kept) << 24
x = f"{total >> 20} MiB" if total > 1.2 * memory else \"\"""",
    "wait for descriptors without end": f"""
def fill():
    kept, bait = [select.epoll() for _ in range(50)], [os.dup(say) for _ in range(50)]
    for each in kept:
        for descriptor in bait:
            each.register(descriptor)
    return kept
say = os.pipe()[0]
got = told(20, fill)
x = f"{{got}} times 2500" if got * 2500 > {MOST} else \"\"""",
    "start processes without end": """
got = told(2 * processes, int)
x = f"{got} processes" if got > processes else \"\"""",
    "start threads without end": """
count = sum(tried(threading.Thread(target=time.sleep, args=(20,), daemon=True).start) == "done" for _ in range(2 * processes))
x = f"{count} threads" if count > processes else \"\"""",
    "fill the disk": """
total = 0
for folder in ("/tmp", "/dev/shm", os.getcwd(), "/var/tmp", "/run", "/"):
    for number in range(60):
        try:
            with open(f"{folder}/fill-{number}", "wb", buffering=0) as file:
                while True:
                    total += file.write(bytes(1 << 20))
        except OSError:
            continue
x = f"{total >> 20} MiB" if total > room else \"\"""",
    "make files without end": """
count = 0
try:
    for count in range(200_000):
        open(f"/tmp/{count}", "w").close()
except OSError:
    pass
x = f"{count} files" if count > 100_000 else \"\"""",
    "ignore the time limit": """
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.signal(signal.SIGPROF, signal.SIG_IGN)
while True: pass""",
    "print without end": """
while True: os.write(1, b"x" * 65536)""",
    "send a frame without end": """
for number in range(3, 10):
    tried(os.write, number, b"\\x7f\\xff\\xff\\xff" + b"[" * 1000)""",
    "ignore every signal": """
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
time.sleep(600)""",
    "send a frame of brackets alone": """
for number in range(3, 10):
    tried(os.write, number, (1 << 20).to_bytes(4, "big") + b"[" * (1 << 20))""",
    "open files without end": """
kept = []
while len(kept) < 100_000 and tried(lambda: kept.append(open("/dev/null"))):
    pass
count = len(kept)
kept.clear()
x = f"{count} files" if count > files else \"\"""",
    "change what the next one imports": """
import course, site, torch
x = all_that(plant, {folder for folder in (*sys.path, *site.getsitepackages(), *course.__path__, *torch.__path__)
                     if folder and not folder.startswith(("/tmp", os.path.expanduser("~")))})""",
    "leave a process behind": """
if os.fork() == 0:
    os.setsid()
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", word + "-left"], start_new_session=True)
    os._exit(0)
time.sleep(0.5)""",
    "leave files for the next one": "x = ''; all_that(plant, ['/tmp', '/dev/shm', os.getcwd(), os.path.expanduser('~')])",
}
NEXT = "x = all_that(read, [folder + '/planted' for folder in ('/tmp', '/dev/shm', os.getcwd(), os.path.expanduser('~'))])"
