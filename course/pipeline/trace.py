"""What a rank reports of one step; plain data, since it goes back to a process without torch."""

from dataclasses import dataclass, field

from course.schedule import Operation


@dataclass
class Trace:
    """What one rank did in one step, in the order of its operations; times in nanoseconds."""

    operations: list[Operation] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    computing: list[int] = field(default_factory=list)  # processor time, without waiting
    losses: dict[int, float] = field(default_factory=dict)
    bytes_sent: dict[tuple[int, int], int] = field(default_factory=dict)
    overruns: int = 0
    reducing: int = 0  # nanoseconds of the all-reduce of gradients over the replicas, after the last operation
    disturbance: int = 0  # nanoseconds that the caller's function took inside the operations
    levels: list[int] = field(default_factory=list)  # bytes of activations held after each operation
    bytes_of_one: dict[int, int] = field(default_factory=dict)  # by stage, what one micro-batch adds to them
    peak_activations: int = 0
    peak_activation_bytes: int = 0
    activation_bytes_left: int = 0

    def take_memory(self, counted: "Trace"):
        """What is held follows from the order alone: take it over from a step that was counted."""
        for name in ("levels", "bytes_of_one", "peak_activations", "peak_activation_bytes", "activation_bytes_left"):
            setattr(self, name, getattr(counted, name))
