"""What a run returns: the prediction, the measurement and the comparison with one process, as plain data."""

from dataclasses import dataclass, field
from math import isfinite

from course.pipeline.sizes import Sizes
from course.schedule import Schedule
from course.timeline import Timeline
from course.words import listed

CLOCKS = {
    "paced": "everything is computed and sent, then each operation waits until its emulated device would be done",
    "real": "nothing is emulated",
    "virtual": "everything is computed and sent, the times are the plan's",
}
ENGINES = {"ours": "", "torch": " that follow torch.distributed.pipelining"}


@dataclass(frozen=True)
class Run:
    """One real run of a schedule.

    `predicted` and `measured` are in slots, so that one lies under the other; a slot is `slot_seconds` long.
    `bubble_measured` counts the emulated devices' time as work and overruns as idle; with the real clock the
    measured spans are the work. `losses` has one number a step, `max_gradient_difference` is over all parameters in
    the last step (NaN, and no `reference_losses`, where one process did not train the model). `bytes_sent` is
    (from stage, to stage) -> bytes a step; `peak_activation_bytes` and the counts are per rank, `parameter_bytes` per
    stage, `output` is each rank's stdout. `activation_steps` has per rank (time in slots, bytes of activations held from
    then on), `bytes_of_one` per stage what one micro-batch adds to them. Of `dp` replicas the slowest is shown; the
    all-reduce of their gradients comes after the step, in real time.
    """

    schedule: Schedule = field(repr=False)
    clock: str
    slot_seconds: float
    predicted: Timeline = field(repr=False)
    measured: Timeline = field(repr=False)
    bubble_measured: float
    overruns: int
    attempts: int
    losses: tuple[float, ...]
    reference_losses: tuple[float, ...]
    max_gradient_difference: float
    peak_activations_measured: tuple[int, ...]
    peak_activation_bytes: tuple[int, ...]
    activation_bytes_left: tuple[int, ...] = field(repr=False)
    activation_steps: tuple[tuple[tuple, ...], ...] = field(repr=False)
    bytes_of_one: tuple[int, ...] = field(repr=False)
    bytes_sent: dict[tuple[int, int], int] = field(repr=False)
    parameter_bytes: tuple[int, ...] = field(repr=False)
    sizes: Sizes = field(repr=False)
    pids: tuple[int, ...] = field(repr=False)
    machine: dict = field(repr=False)
    output: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    engine: str = "ours"
    dp: int = 1
    all_reduce_seconds: float = 0.0

    @property
    def bubble_predicted(self) -> float:
        """Idle over total, of the simulated timeline."""
        return float(self.predicted.bubble_fraction)

    @property
    def peak_activations_predicted(self) -> tuple[int, ...]:
        """Per rank, the most chunks whose activations are held at once."""
        return self.predicted.peak_activations

    @property
    def step_time_predicted(self) -> float:
        """Seconds of the simulated step."""
        return float(self.predicted.makespan) * self.slot_seconds

    @property
    def step_time_measured(self) -> float:
        """Seconds from the begin of the step to the end of its last operation."""
        return float(self.measured.makespan) * self.slot_seconds

    @property
    def largest_error(self) -> float:
        """Slots by which a measured start or end is off from the predicted one at most."""
        planned = {span.operation: span for span in self.predicted.spans}
        return max((abs(float(got) - float(expected)) for span in self.measured.spans
                    for got, expected in zip(span[2:], planned[span.operation][2:], strict=True)), default=0.0)

    @property
    def grids(self) -> tuple[str, str]:
        """The predicted and the measured timeline as text, cells of one width in time."""
        predicted = self.predicted.grid()
        cells = len(predicted.splitlines()[0].split())
        return predicted, self.measured.grid(float(self.predicted.makespan) / cells)

    def __str__(self):
        return report(self)

    def to_json(self) -> dict:
        """The numbers of the run as plain data."""
        schedule = self.schedule
        return {
            "schedule": schedule.name or "drawn", "ranks": len(schedule.ranks), "stages": schedule.stages,
            "micro_batches": schedule.micro_batches, "chunks": schedule.chunks, "clock": self.clock,
            "engine": self.engine, "dp": self.dp, "all_reduce_seconds": self.all_reduce_seconds,
            "slot_seconds": self.slot_seconds, "overruns": self.overruns, "attempts": self.attempts,
            "bubble_predicted": self.bubble_predicted, "bubble_measured": float(self.bubble_measured),
            "step_time_predicted": self.step_time_predicted, "step_time_measured": self.step_time_measured,
            "losses": [*map(_finite, self.losses)], "reference_losses": [*map(_finite, self.reference_losses)],
            "max_gradient_difference": _finite(self.max_gradient_difference),
            "peak_activations_predicted": list(self.peak_activations_predicted),
            "peak_activations_measured": list(self.peak_activations_measured),
            "peak_activation_bytes": list(self.peak_activation_bytes),
            "activation_bytes_of_one_micro_batch": list(self.bytes_of_one), "largest_error_slots": self.largest_error,
            "bytes_sent": {f"{source}->{target}": size for (source, target), size in self.bytes_sent.items()},
            "parameter_bytes": list(self.parameter_bytes), "processes": len(self.pids), "pids": list(self.pids),
            "machine": self.machine, "notes": list(self.notes),
        }


def _finite(number):
    """JSON has no infinity and no NaN."""
    return number if isfinite(number) else None


def report(run: Run) -> str:
    """What a reader wants to see of a run, prediction above measurement."""
    predicted, measured = run.grids
    unit = "micro-batches" if run.schedule.chunks == 1 else "micro-batches x chunks"
    milliseconds = run.slot_seconds * 1000
    lines = [
        f"predicted, one slot = {milliseconds:.1f} ms", predicted, "",
        f"measured on {len(run.pids)} processes{ENGINES[run.engine]}; {CLOCKS[run.clock]}", measured, "",
        f"bubble     {run.bubble_predicted:.2%} predicted, {float(run.bubble_measured):.2%} measured",
        *([f"replicas   {run.dp}, the slowest is shown; their all-reduce of gradients then took {run.all_reduce_seconds:.4f} s"]
          if run.dp > 1 else []),
        f"step       {run.step_time_predicted:.3f} s predicted, {run.step_time_measured:.3f} s measured",
        f"loss       {run.losses[0]:.4f} at step 0, {run.losses[-1]:.4f} at step {len(run.losses) - 1}",
        f"gradients  differ from one process's by {run.max_gradient_difference:.1e} at most, over every parameter"
        if run.reference_losses else "gradients  not compared with one process's",
        f"held       {listed(run.peak_activations_measured)} {unit} at most per rank, "
        f"{listed(run.peak_activations_predicted)} predicted",
        f"           {listed(run.peak_activation_bytes)} bytes of activations",
    ]
    return "\n".join([*lines, *(f"note       {note}" for note in run.notes)])
