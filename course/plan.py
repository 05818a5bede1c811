"""One row of an experiment table: what is run, what is estimated of it, how long the emulated devices take. Starts no process."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache

from course.formulas import bubble_fraction
from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs, simulate
from course.timeline import Timeline

CHOICES = ("gpipe", "1f1b", "interleaved_1f1b", "looped_bfs")  # the schedules that the closed formula is for
LAYERS = 16
FIXED, EACH, BACKWARD = 3, 2, 2  # units of a layer's forward: fixed, and for each sample; a backward, in forwards
# of the table: what was chosen, what follows from it, what was measured, and under which conditions
COLUMNS = ("schedule", "pp", "chunks", "micro_batches", "micro_batch_size", "dp", "global_batch", "bubble_estimated",
           "bubble_measured", "peak_activation_bytes", "step_time_predicted", "step_time_measured")
CONDITIONS = ("layers", "slow_stage", "message")
FINEST = 1_000_000  # the largest denominator that a factor is taken for
BUBBLE_OFF, STEP_OFF = 0.01, 0.05  # of the step: farther off its own plan a row was measured on a busy machine


@dataclass(frozen=True)
class Row:
    """One configuration: `pp` ranks with `chunks` stages each, `dp` replicas of that pipeline, `layers` of the model in all.

    `slow_stage` is the factor by which the layers of one stage in the middle are slower, `message` the units for which a
    message takes its link. In units the emulated devices tell their time: a layer's forward takes 3, and 2 for each sample,
    its backward twice that.
    """

    schedule: str
    pp: int
    chunks: int
    micro_batches: int
    micro_batch_size: int
    dp: int = 1
    slow_stage: float = 1
    message: float = 0
    layers: int = LAYERS

    @property
    def global_batch(self) -> int:
        """Samples in one step, over all replicas."""
        return self.micro_batches * self.micro_batch_size * self.dp

    @property
    def processes(self) -> int:
        """How many devices, a process each, it takes."""
        return self.pp * self.dp

    @property
    def bubble_estimated(self) -> Fraction:
        """Idle over total time by the closed formula, which is for equal stages and free messages."""
        return bubble_fraction(self.pp, self.micro_batches, self.chunks)

    @property
    def parts(self) -> tuple[str, ...]:
        """Which assumptions of the formula do not hold: `slow stage`, `slow link`, `few micro-batches`; none where it is exact.

        >>> Row("1f1b", 4, 1, 8, 4).parts, Row("1f1b", 4, 1, 8, 4, slow_stage=2).parts
        ((), ('slow stage',))
        """
        few = self.schedule == "looped_bfs" and self.chunks > 1 and self.micro_batches < self.pp
        broken = {"slow stage": self.slow_stage > 1, "slow link": self.message > 0, "few micro-batches": few}
        return tuple(name for name, is_so in broken.items() if is_so and self.pp > 1)

    @property
    def key(self) -> str:
        """The row as one line of text, by which its record is found."""
        return " ".join(f"{name}={_plain(getattr(self, name))}" for name in NAMES)

    @property
    def label(self) -> str:
        """The row as a progress bar or a legend shows it."""
        parts = [self.schedule, f"pp {self.pp}", f"m {self.micro_batches}", f"b {self.micro_batch_size}"]
        parts += [f"v {self.chunks}"] * (self.chunks > 1) + [f"dp {self.dp}"] * (self.dp > 1)
        return ", ".join([*parts, *self.parts])

    def as_schedule(self) -> Schedule:
        """The operations of each rank of one replica."""
        return SCHEDULES[self.schedule].make(self.pp, self.micro_batches, self.chunks)

    def costs(self) -> Costs:
        """What the emulated devices and links take, in units; exact."""
        stages = self.pp * self.chunks
        forward = [self.layers // stages * (FIXED + EACH * self.micro_batch_size)] * stages
        forward[stages // 2] *= _exact(self.slow_stage)
        return Costs(forward, [BACKWARD * time for time in forward], message=_exact(self.message))

    def simulated(self) -> Timeline:
        """The step that is planned, in units; the all-reduce of replicas is not in it."""
        return _simulated(self)

    def as_dict(self) -> dict:
        """The row as it is written in a plan, without what is left at its usual value."""
        return {name: getattr(self, name) for name in NAMES if name not in USUAL or getattr(self, name) != USUAL[name]}


@lru_cache(64)
def _simulated(row):
    return simulate(row.as_schedule(), row.costs())


def how_busy(row: Row, bubble: float, step: float, predicted: float) -> str:
    """By what a measurement (bubble, step in seconds) is off its own plan, so that the machine was busy; empty where it is not.

    >>> how_busy(Row("1f1b", 4, 1, 8, 4), 0.5, 1.0, 1.0)
    'bubble 50.0% where its plan gives 27.3%'
    """
    planned = float(row.simulated().bubble_fraction)
    if abs(bubble - planned) > BUBBLE_OFF:
        return f"bubble {float(bubble):.1%} where its plan gives {planned:.1%}"
    if abs(step - predicted) > STEP_OFF * predicted:
        return f"step {float(step):.3g} s where its plan gives {float(predicted):.3g} s"
    return ""


NAMES = tuple(field.name for field in fields(Row))
USUAL = {"slow_stage": 1, "message": 0, "layers": LAYERS}
# The lesson's three configurations with one global batch, and rows that differ from one of them in a single thing.
DEFAULT = (
    Row("1f1b", 2, 1, 8, 4),
    Row("gpipe", 4, 1, 8, 4),
    Row("1f1b", 4, 1, 8, 4),
    Row("1f1b", 4, 1, 32, 1),
    Row("1f1b", 8, 1, 8, 4),
    Row("interleaved_1f1b", 4, 2, 8, 4),
    Row("1f1b", 4, 1, 4, 4, dp=2),
    Row("1f1b", 4, 1, 8, 4, slow_stage=2),
)

WORKED = (Row("1f1b", 2, 1, 8, 4), Row("1f1b", 2, 1, 32, 1))  # the worked example's rows


def written(row: Mapping) -> str:
    """A row by its keys as Python writes it, with double quotes.

    >>> written({"schedule": "1f1b", "pp": 4})
    '{"schedule": "1f1b", "pp": 4}'
    """
    return "{" + ", ".join(f'"{key}": {literal(value)}' for key, value in row.items()) + "}"


def literal(value) -> str:
    """A text or a number as it is written in Python and in TOML."""
    return f'"{value}"' if isinstance(value, str) else repr(_plain(value))


def _plain(value):
    return float(value) if isinstance(value, Fraction) else value


def _exact(number):
    """A factor as it was written: 1.5 as 3/2."""
    return number if isinstance(number, int) else Fraction(number).limit_denominator(FINEST)
