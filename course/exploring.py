"""What a notebook explores with sliders: schedules, a layout, a schedule of one's own; pictures alone while it is graded."""

from numbers import Real

from course.layout.cards import CARDS
from course.progress import is_grading
from course.reading import read_schedule
from course.real_run import RealRun
from course.view import View, paragraphs
from course.widgets.explorer import Explorer, explorer, without_sliders
from course.widgets.lab_explorer import LabExplorer, lab_explorer, lab_without_sliders
from course.widgets.lab_setting import lab_subject
from course.widgets.layout_explorer import LayoutExplorer, layout_explorer, layout_without_sliders


def explore(schedule="1f1b", ranks=4, micro_batches=8, chunks=1, backward=1,
            schedules=("gpipe", "1f1b", "interleaved_1f1b"), formulas=True) -> Explorer | View:
    """Sliders for a schedule's sizes, its timeline and numbers below; without them while the notebook is graded or validated.

    `formulas=False` leaves the closed forms for the learner to find.
    """
    return _shown(explorer, without_sliders, schedule, ranks, micro_batches, chunks, backward, schedules, formulas)


def explore_layouts(card="c", tp=2, pp=2, dp=2, micro_batch_size=1, chunks=1, cards=CARDS) -> LayoutExplorer | View:
    """Sliders for a layout on a card: the cluster, memory, traffic, the step, the place in the ranking of all that fit.

    `cards` are those to choose from: exercise 5's by their names, or a list of Cards of your own.
    """
    return _shown(layout_explorer, layout_without_sliders, card, tp, pp, dp, micro_batch_size, chunks, cards)


def open_lab(subject, ranks=None, micro_batches=None, chunks=None, forward=None, input_grad=None, weight_grad=None,
             latency=None) -> LabExplorer | View:
    """Any schedule under the glass: faults, name, why each idle cell is idle, and its place beside the known ones and the floor.

    `subject` is whatever read_schedule reads: a drawing, orders, a CSV text or file, a line to share, a Schedule, a Timeline, a
    function, a run. The times that the sliders begin with are a whole rank's; a run's are those that it was emulated with.
    """
    if isinstance(subject, View):  # why there is none
        return subject
    times = {"forward": forward, "input_grad": input_grad, "weight_grad": weight_grad, "latency": latency}
    if isinstance(subject, RealRun):
        times = {name: ran if times[name] is None else times[name] for name, ran in _times_of(subject).items()}

    def read(with_or_without):
        return lambda: with_or_without(read_schedule(subject, ranks, micro_batches, chunks), **times)
    return _shown(read(lab_explorer), read(lab_without_sliders))


def _times_of(ran):
    """The times that a run was emulated with, where a kind takes the same on all stages."""
    planned = lab_subject(ran.run.predicted).setting()
    return {name: getattr(planned, name) for name in ("forward", "input_grad", "weight_grad")} | {
        "latency": ran.latency if isinstance(ran.latency, Real) else None}


def _shown(with_sliders, without, *given):
    try:
        if not is_grading():
            return with_sliders(*given)
        still = without(*given)
    except ValueError as error:
        return paragraphs(f"Nothing to explore: {error}.")
    return View(still.html, still.text)
