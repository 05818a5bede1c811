"""Where the controls of the open lab stand, and what it looks at."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Rational, Real

from course.legality import Violation, violations
from course.recognition import recognize
from course.schedule import Schedule
from course.schedules import SCHEDULES
from course.simulation import Costs
from course.timeline import Timeline
from course.widgets.values import along
from course.words import counted

TIMES, LATENCIES = (0.5, 1, 1.5, 2, 3, 4), (0, 0.25, 0.5, 1, 2, 4)
SLIDERS = {"forward": "forward F", "input_grad": "input gradient I", "weight_grad": "weight gradient W",
           "latency": "latency"}
LONGEST = 1000  # slots
FINEST = 1000  # the largest denominator that a time is taken for


@dataclass(frozen=True)
class LabSetting:
    """Slots that a whole rank's forward, input gradient and weight gradient take, and a message; what is shown below."""

    forward: Rational = 1
    input_grad: Rational = 1
    weight_grad: Rational = 1
    latency: Rational = 0
    memory: bool = False
    grid: bool = False

    @property
    def costs(self) -> Costs:
        """The same as costs of a whole rank."""
        return Costs(self.forward, input_grad=self.input_grad, weight_grad=self.weight_grad, latency=self.latency)

    def wanted(self) -> dict:
        """As the page has it."""
        return vars(self) | {name: float(getattr(self, name)) for name in SLIDERS}


def read_lab_setting(forward=1, input_grad=1, weight_grad=1, latency=0, memory=False, grid=False) -> LabSetting:
    """A setting of sound values. ValueError names the value that is none, and what would do."""
    times = {name: _time(name, value, least=0 if name == "latency" else Fraction(1, FINEST))
             for name, value in zip(SLIDERS, (forward, input_grad, weight_grad, latency), strict=True)}
    return LabSetting(**times, memory=bool(memory), grid=bool(grid))


def _time(name, value, least):
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= value <= LONGEST:
        above = "at least 0" if least == 0 else "above 0"
        raise ValueError(f"{name} = {value!r}: a number of slots {above} and at most {LONGEST} is needed")
    exact = Fraction(value).limit_denominator(FINEST)
    return int(exact) if exact.denominator == 1 else exact


def lab_sliders(start: LabSetting) -> list[list]:
    """A slider for each time, along the usual values and the one that it starts with."""
    values = {name: sorted({*(LATENCIES if name == "latency" else TIMES), start.wanted()[name]}) for name in SLIDERS}
    return [along(name, words, values[name], "{:g}") for name, words in SLIDERS.items()]


@dataclass(frozen=True)
class LabSubject:
    """What is looked at: a schedule, and the drawing or the measurement that it comes from, where there is one."""

    schedule: Schedule
    drawing: Timeline | None = None

    @cached_property
    def faults(self) -> list[Violation]:
        """What is wrong with the order."""
        return violations(self.schedule)

    @cached_property
    def drawn_faults(self) -> list[Violation]:
        """What is wrong with the drawing."""
        return violations(self.drawing) if self.drawing else []

    @cached_property
    def known(self) -> str | None:
        """The title of the known schedule that it is; None for another."""
        name = None if self.faults else recognize(self.schedule)
        return name and SCHEDULES[name].title

    @property
    def measured(self) -> bool:
        """Whether the drawing is one of a clock's: its times are no exact ones."""
        return bool(self.drawing) and any(isinstance(time, float) for row in self.drawing.ends for time in row)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.known or "Your schedule"

    @property
    def sizes(self) -> str:
        """Its sizes in words."""
        schedule, place = self.schedule, self.schedule.row_word
        parts = [counted(len(schedule.ranks), place), counted(schedule.micro_batches, "micro-batch")]
        return ", ".join(parts + [f"{schedule.chunks} chunks a rank"] * (schedule.chunks > 1))

    def setting(self) -> LabSetting:
        """The times to begin with: those that it was drawn with where operations of a kind are equally long, else usual ones.

        Usual: a backward takes as long as a forward; where it is split, so does each of its parts.
        """
        usual = LabSetting() if self.schedule.split else LabSetting(1, Fraction(1, 2), Fraction(1, 2))
        lengths = {}
        for span in self.drawing.spans if self.drawing and not self.drawn_faults else ():
            lengths.setdefault(span.operation.kind, set()).add(span.end - span.start)
        if any(len(found) > 1 or not all(isinstance(time, Rational) for time in found) for found in lengths.values()):
            return usual
        times = {kind: time * self.schedule.chunks for kind, (time,) in lengths.items()}
        half = Fraction(times["B"], 2) if "B" in times and not self.schedule.split else None
        return replace(usual, forward=times.get("F", usual.forward), input_grad=half or times.get("I", usual.input_grad),
                       weight_grad=half or times.get("W", usual.weight_grad))


def lab_subject(subject: Schedule | Timeline) -> LabSubject:
    """What to look at."""
    return LabSubject(subject.schedule, subject) if isinstance(subject, Timeline) else LabSubject(subject)
