"""A learner's answer on real processes, and how its result is shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from course.answers import Interrupted, LocalAnswer
from course.checks.drawing_rules import read_answer
from course.checks.orders import ask_schedule
from course.checks.outcome import Message
from course.figures import memory_figure, stack, timeline_figure
from course.figures.words import held_word
from course.legality import violations
from course.pipeline import PipelineError, Run, Sizes, run
from course.schedule import Schedule
from course.timeline import Timeline
from course.view import View, folded, paragraphs, table, together
from course.words import listed

OPTIONAL = ("bubble", "held")  # rows of numbers that a notebook may leave out
GRADED = "Not run while the notebook is graded or validated: it earns no points."
FAULTY = "Not run: with this fault the processes would wait for ever or compute nonsense."
CLOCKS = {
    "paced": "Real: the processes, the text, the tensors, the messages, the gradients. Emulated: how long an operation takes. "
             "Each one computes, then waits until a device of its own would be done, because {ranks} ranks share "
             "{cores:g} cores here. The boxes are clock readings, not the plan: a process that is woken late begins late, and "
             "waits the less at the end.",
    "real": "Nothing is emulated: {ranks} ranks share {cores:g} cores.",
    "virtual": "The processes, tensors and messages are real; the times follow the plan and are not measured.",
}


@dataclass(frozen=True, repr=False)
class RealRun:
    """A finished run, ready to be looked at: by itself the timelines and the numbers; `traffic()`, `equality()`, `memory()`."""

    run: Run
    drawn: Timeline | None = None
    without: tuple[str, ...] = ()
    latency: float | Sequence = 0  # slots, as Costs has it

    @property
    def slots(self):
        """The length of the simulated step in slots: every operation starts as soon as it can."""
        return self.run.predicted.makespan

    @property
    def bubble(self):
        """The bubble fraction of the simulated step."""
        return self.run.predicted.bubble_fraction

    @property
    def bubble_measured(self) -> float:
        """The bubble fraction of the real run."""
        return float(self.run.bubble_measured)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return together(self.timelines(), self.numbers())._repr_mimebundle_()

    def __repr__(self):
        return repr(together(self.timelines(), self.numbers()))

    @property
    def gradient_difference(self) -> float:
        """The largest difference of a gradient from one process's, over every parameter."""
        return self.run.max_gradient_difference

    @property
    def sizes(self) -> Sizes:
        """The sizes of the model and its micro-batches."""
        return self.run.sizes

    def backwards_reversed(self) -> Schedule:
        """The schedule that ran, with the backwards of each rank in the opposite order."""
        ranks = []
        for rank in self.run.schedule.ranks:
            backwards = [operation for operation in rank if operation.kind == "B"]
            ranks.append(tuple(backwards.pop() if operation.kind == "B" else operation for operation in rank))
        return replace(self.run.schedule, ranks=tuple(ranks), name="")

    def timelines(self):
        """The drawing or the simulation, and the measured timeline under it, on one time axis."""
        upper = self.drawn or self.run.predicted
        scale = max(float(upper.makespan), float(self.run.measured.makespan))
        name = "Your drawing" if self.drawn else "Simulated"
        return stack(timeline_figure(upper, title=name, scale=scale, summary=False), self._measured(scale))

    def _measured(self, scale=None):
        return timeline_figure(self.run.measured, title=f"Measured on {len(self.run.pids)} processes, {_slot(self.run)}",
                               scale=scale, slot=1, summary=False)

    def numbers(self) -> View:
        """Measured beside predicted, and what of it is real."""
        run = self.run
        held, place = held_word(run.schedule), run.schedule.row_word
        rows = {"bubble": self._bubble_row(),
                "step": ["step, slots", f"{float(self.slots):g}", f"{float(run.measured.makespan):.2f}"],
                "time": [f"step, ms ({_slot(run)})", *(f"{1000 * seconds:.0f}" for seconds in (run.step_time_predicted,
                                                                                              run.step_time_measured))],
                "held": [f"{held} whose activations are held at most, per {place}", listed(run.peak_activations_predicted),
                         listed(run.peak_activations_measured)]}
        notes = [late(run.overruns)] if run.overruns else list(run.notes)
        if self.drawn and self.drawn.makespan > run.predicted.makespan:
            notes.append(f"Your drawing takes {self.drawn.makespan} slots, this run {run.predicted.makespan}: the processes keep "
                         "the order that you drew, but start each operation as soon as they can.")
        clock = CLOCKS[run.clock].format(ranks=len(run.schedule.ranks), cores=run.machine["cores"])
        shown = [row for name, row in rows.items() if name not in self.without]
        return together(table(["", "simulated", "measured"], shown), paragraphs(*notes),
                        folded(f"What is real here, and what is emulated ({run.clock} clock)", clock))

    def bubble_table(self) -> View:
        """The bubble fraction, simulated and measured."""
        return together(table(["", "simulated", "measured"], [self._bubble_row()]), *busy({"": self}))

    def _bubble_row(self):
        return ["bubble fraction", f"{self.bubble} = {float(self.bubble):.1%}", f"{self.bubble_measured:.1%}"]

    def equality(self) -> View:
        """Loss and gradients beside one process's that trains the same model on the same text."""
        run = self.run
        rows = [[f"loss, step {step}", f"{one:.6f}", f"{many:.6f}"]
                for step, (one, many) in enumerate(zip(run.reference_losses, run.losses, strict=True))]
        return together(table(["", "one process", f"{len(run.pids)} processes"], rows),
                        paragraphs(f"Largest difference of any gradient of any parameter: {run.max_gradient_difference:.2g}"))

    def traffic(self) -> View:
        """What crossed each boundary in the measured step, beside the parameters that stayed where they are."""
        run = self.run
        rows = [[f"stage {source} → stage {target}", "activations" if target > source else "gradients of activations",
                 f"{size:,}"] for (source, target), size in sorted(run.bytes_sent.items())]
        kept = [[f"stage {stage}", f"{size:,}"] for stage, size in enumerate(run.parameter_bytes)]
        return together(table(["boundary", "what", "bytes in one step"], rows, "What was sent"),
                        table(["stage", "bytes of parameters"], kept, "What was not sent"))

    def memory(self) -> View:
        """The bytes of activations that each rank held, over time under what it did; and how they are made up."""
        run, schedule = self.run, self.run.schedule
        place = schedule.row_word
        unit, size = ("MB", 1e6) if max(run.peak_activation_bytes, default=0) >= 1e6 else ("kB", 1e3)
        steps = [[(time, level / size) for time, level in row] for row in run.activation_steps]
        figure = memory_figure(steps, run.measured.makespan, title=f"Activations held, {unit}", unit=unit, place=place)
        most = [max([0, *(level for _, level in row)]) for row in run.predicted.holding(run.bytes_of_one)]
        rows = [[f"{place} {rank}", held, listed(run.bytes_of_one[stage] for stage in range(schedule.stages)
                                               if schedule.stage_to_rank[stage] == rank), f"{most[rank]:,}", f"{peak:,}"]
                for rank, (held, peak) in enumerate(zip(run.peak_activations_measured, run.peak_activation_bytes, strict=True))]
        heads = (["micro-batches held at most", "bytes of one", "count x bytes"] if schedule.chunks == 1 else
                 ["chunks held at most", "bytes of one micro-batch, per chunk", "sum over what is held"])
        return together(stack(self._measured(), figure), table(["", *heads, "bytes measured at most"], rows))


@dataclass(frozen=True, repr=False)
class NoRun(View):
    """In place of a run, why there was none; what a cell asks of it is not known yet (`...`)."""

    slots = bubble = bubble_measured = gradient_difference = ...
    sizes = None

    def memory(self) -> View:
        """Why there is nothing to look at, with the reason: it is often all that a cell shows of its run."""
        return paragraphs(f"There was no run to look at yet. {self.text}")

    traffic = equality = bubble_table = memory

    def backwards_reversed(self):
        """No schedule."""
        return ...


class GatedRun(NoRun):
    """A run that was refused because it would give an answer away. `say(run)` is asked for its words whenever it is shown."""

    def __init__(self, say: Callable[["GatedRun"], str]):
        object.__setattr__(self, "_say", say)

    @property
    def text(self):
        """What is to be said now."""
        return self._say(self)

    @property
    def html(self):
        """The same as HTML."""
        return paragraphs(self.text).html


def missing_runs(runs: Iterable[RealRun | NoRun]) -> View | None:
    """Why some of these runs are not there, each reason once; None where all are."""
    reasons = dict.fromkeys(run.text for run in runs if isinstance(run, NoRun))
    return paragraphs(*reasons) if reasons else None


def no_run(text: str) -> NoRun:
    """A NoRun that says this."""
    view = paragraphs(text)
    return NoRun(view.html, view.text)


def failed_run(error: Exception) -> NoRun:
    """A NoRun that says why a run failed, with what the process at fault said."""
    failed = no_run(f"The run did not come to its end: {getattr(error, 'message', error)}.")
    if not (details := getattr(error, "details", "").strip()):
        return failed
    view = together(failed, folded("What the process said", *details.splitlines()))
    return NoRun(view.html, view.text)


def late(overruns: int | str) -> str:
    """What to say of operations that took longer than planned: how many, and what that means for the measurement."""
    return (f"Operations that took longer than their planned time: {overruns}. This machine was busy, so what was measured may "
            "be longer than it should be. Run again once or twice; where it stays busy, go by the simulated numbers.")


def _slot(run):
    return f"one slot = {run.slot_seconds * 1000:.1f} ms"


def busy(runs: Mapping[str, RealRun]) -> list[View]:
    """The line for under a table of what these runs measured, each by its name, if in one an operation took too long."""
    found = [f"{run.run.overruns}" + f' in the run "{name}"' * bool(name) for name, run in runs.items() if run.run.overruns]
    return [paragraphs(late(", ".join(found)))] * bool(found)


def asked(function, stages: int, micro_batches: int, chunks: int | None = None) -> Schedule | Message:
    """The schedule of a learner's function of orders, legal or not; the message why there is none."""
    return ask_schedule(LocalAnswer(function), getattr(function, "__name__", "the function"), stages, micro_batches, chunks)


def read_subject(subject, stages: int, micro_batches: int, chunks: int | None = None) -> tuple[Schedule, Timeline | None] | NoRun:
    """The schedule to run, and the drawing it comes from; a NoRun that says why there is none."""
    if isinstance(subject, NoRun):
        return subject
    if callable(subject):
        subject = asked(subject, stages, micro_batches, chunks)
        if isinstance(subject, Message):
            return no_run(f"Nothing to run yet. {subject.text}")
    if isinstance(subject, Schedule):
        faults = violations(subject)
        return no_run(f"{FAULTY} {faults[0].message}.") if faults else (subject, None)
    if isinstance(subject, Timeline):
        drawn = subject
    else:
        reading = read_answer(LocalAnswer(subject).value(), "the drawing", stages, micro_batches)
        if isinstance(reading, Message):
            missing = "Draw your answer in its cell above, run that cell, then this one."
            return no_run(f"Nothing to run yet. {missing if reading.code == 'unanswered' else reading.text}")
        drawn = reading.timeline
    faults = violations(drawn)
    if faults:
        return no_run(f"{FAULTY} {faults[0].message}.")
    return drawn.schedule, drawn


def run_subject(subject, stages: int = 4, micro_batches: int = 4, without: str | Sequence[str] = (), chunks: int | None = None,
                **options) -> RealRun | NoRun:
    """Run a schedule or a drawing on real processes; what goes wrong comes back as a NoRun, never as a traceback."""
    without = (without,) if isinstance(without, str) else tuple(without)
    if unknown := set(without) - set(OPTIONAL):
        raise ValueError(f"without = {without!r}: there is no row {unknown.pop()!r}; there are {', '.join(OPTIONAL)}")
    found = read_subject(subject, stages, micro_batches, chunks)
    if isinstance(found, NoRun):
        return found
    schedule, drawn = found
    try:
        result = run(schedule, **options)
    except KeyboardInterrupt:
        raise Interrupted("the processes were ended; run the cell again") from None
    except (PipelineError, ValueError, OSError) as error:
        return failed_run(error)
    # With times of its own an operation is no longer one cell wide, so the simulation stands above the measurement.
    latency = options["costs"].latency if options.get("costs") else 0
    return RealRun(result, drawn if not {"forward", "backward", "costs"} & set(options) else None, without, latency)
