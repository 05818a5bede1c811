"""Some cells asked as a submission is: what they get, with the runs of our side feigned and the sessions counted."""

from autograder.intake import Cell, Submission
from autograder.questions import grade
from autograder.sandbox import Unsandboxed
from autograder.trusted_runs import NotRun
from tests.experiment_lines import made

USE = Cell("ex3-use-answer", "bubble_4_8 = 3 / 11\nbubble_8_64 = 7 / 71")
INVERSE = Cell("ex3-inverse-answer", "import math\n\ndef micro_batches_needed(p, fraction):\n"
               "    return max(1, math.ceil((p - 1) * (1 - fraction) / fraction))")
BEST = Cell("ex3-limits-answer", "def best_micro_batch_size(global_batch, p, dp, times):\n"
            "    return min(times, key=lambda b: (global_batch / (b * dp) + p - 1) * times[b])")
FULL = {"ex3-use": 4, "ex3-inverse": 3, "ex3-limits": 3}


class NoRuns:
    """In place of our own runs: the lines that they would give, or a failure."""

    def __init__(self, fails=""):
        self.fails, self.asked = fails, []

    def lines(self, rows):
        self.asked.append(list(rows))
        if self.fails:
            raise NotRun(self.fails)
        return made(rows, slot=0.001)


class Counted(Unsandboxed):
    """Counts the sessions that were begun."""

    begun = 0

    def session(self, **limits):
        self.begun += 1
        return super().session(**limits)


def check(grade_id):
    return Cell(grade_id, f"check({grade_id!r})", ours=True)


def own(source):
    return Cell(None, source)


def marks(*cells, notebook="3_bubble_fraction", runs=None, sandbox=None, seed=1, **options):
    """What these cells get; each answer's check stands right behind it, unless it is given."""
    placed, given = [], {cell.grade_id for cell in cells}
    for cell in cells:
        placed.append(cell)
        if cell.grade_id and cell.grade_id.endswith("-answer") and (found := cell.grade_id.removesuffix("-answer")) not in given:
            placed.append(check(found))
    return grade(Submission({notebook: placed}), sandbox or Unsandboxed(), seed, runs or NoRuns(), **options)


def points(found, *wanted):
    return {grade_id: found[grade_id].points for grade_id in wanted or FULL}
