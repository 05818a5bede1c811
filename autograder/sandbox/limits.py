"""What one submission may use."""

from dataclasses import dataclass

MESSAGE = 1 << 16  # bytes of a message between the grader and the fork server


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes. Memory and processes (threads count) hold for the whole tree, CPU seconds and the rest for each process."""

    memory: int = 2 << 30
    processes: int = 256
    cpu_seconds: int = 120
    file: int = 64 << 20
    files: int = 512
    temporary: int = 128 << 20
    shared_memory: int = 256 << 20
    work: int = 64 << 20
