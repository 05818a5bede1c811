"""What time an operation takes: the machine's own, or that of an emulated device. In nanoseconds; Virtual has ticks of its own.

A clock is asked twice an operation: `start(arrival)` when its inputs are there, `end(operation)` when it is computed.
`arrival` is when the emulated sender's message arrives; `planned_end` is when the emulated device is done, and travels
with the message. So the lateness of a real wake-up is not handed on.
"""

import time
from collections.abc import Mapping

from course.schedule import Operation

LATE = 1 / 20  # of a rank's longest operation: by so much its last wake-up may lengthen the step
_ahead = 0  # nanoseconds by which rank 0's clock is ahead of this machine's


def now() -> int:
    """The time on rank 0's machine: one clock for all processes of a machine, and an offset to that of another."""
    return time.perf_counter_ns() + _ahead


def align(ahead: int):
    """From now on read rank 0's clock, which is this many nanoseconds ahead of this machine's."""
    global _ahead
    _ahead = ahead


class Real:
    """Nothing is emulated."""

    planned_end = overruns = disturbance = 0

    def start(self, arrival: int) -> int:
        """Now."""
        return now()

    def disturb(self, duration: int):
        """It shows by itself."""

    def end(self, operation: Operation) -> int:
        """Now."""
        return now()


class Paced:
    """Computes, then sleeps until the emulated device would be done. Start and end are clock readings, never the plan.

    An operation that computes longer than its device would is an overrun: counted, and the plan moves with it. So is a
    last operation that is woken late, the one lateness that no later sleep makes good. What disturbs an operation comes on
    top of the time of its device, and the plan moves with that too.
    """

    def __init__(self, durations: Mapping[Operation, int], begin: int):
        self.durations, self.planned_end = durations, begin
        self.disturbance = self._overruns = self._late = 0
        self._tolerance = LATE * max(durations.values(), default=0)

    @property
    def overruns(self) -> int:
        """How many operations took longer than planned, were this one the last."""
        return self._overruns + (self._late > self._tolerance)

    def start(self, arrival: int) -> int:
        """Sleep until the plan lets the operation start: its rank free, its message there."""
        self.planned_end = max(self.planned_end, arrival)
        self.sleep_until(self.planned_end)
        return now()

    def disturb(self, duration: int):
        """The operation lasts longer by this, which has passed already."""
        self.disturbance += duration
        self.planned_end += duration

    def end(self, operation: Operation) -> int:
        """Sleep until the device would be done."""
        self.planned_end += self.durations[operation]
        late = now() - self.planned_end
        if late > 0:
            self._overruns += 1
            self.planned_end += late
        self.sleep_until(self.planned_end)
        end = now()
        self._late = end - self.planned_end
        return end

    def sleep_until(self, moment: int):
        """Sleep until a moment that may have passed."""
        rest = moment - now()
        if rest > 0:
            time.sleep(rest / 1e9)


class Virtual:
    """The rule of the paced clock without sleeping: start and end are the plan, exact, whatever the machine does."""

    overruns = disturbance = 0

    def __init__(self, durations: Mapping[Operation, int], begin: int):
        self.durations, self.planned_end = durations, begin

    def start(self, arrival: int) -> int:
        """When the plan lets the operation start."""
        self.planned_end = max(self.planned_end, arrival)
        return self.planned_end

    def disturb(self, duration: int):
        """The plan does not know of it."""

    def end(self, operation: Operation) -> int:
        """When the device would be done."""
        self.planned_end += self.durations[operation]
        return self.planned_end


CLOCKS = {"paced": Paced, "real": Real, "virtual": Virtual}
