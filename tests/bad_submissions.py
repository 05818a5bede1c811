"""What a case of a bad submission is: an honest one with one edit, and what it may get for what is honest in it.

What is edited is notebook 1 as released with one right answer, ex1-bubbles (4 points): that answer keeps its mark, and nothing
else may get one. The cases stand in hostile_submissions and malformed_submissions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.submissions import Notebooks, add_cell, append_to_cell, released, solved, write_cell
from course.hand_in import ASSIGNMENT

NOTEBOOK = "1_gpipe_diagram.ipynb"
HONEST = {"ex1-bubbles": 4.0}
FIRST, BEFORE = "ex1-diagram-answer", "ex1-bubbles-answer"  # where mischief stands: before the honest answer and in reach of it


@dataclass(frozen=True)
class World:
    """What a case is told about the machine: where things lie, the port of somebody who listens, a process, and two words.

    `marker` is what a case may leave its traces with; `secret` stands in the grader's environment and beside its gradebook.
    """

    checkout: Path
    place: Path
    port: int
    process: int
    marker: str
    secret: str


@dataclass(frozen=True)
class Case:
    """An edit of an honest submission: (notebooks, world) -> None. `earned` is what the case's own answers are worth, `says` a
    part of what the grading must say about it; `closed`: only to a normal user, for root it is an honest one.
    """

    name: str
    edit: Callable[[Notebooks, World], None]
    earned: dict[str, float]
    status: str
    says: str
    folder: str
    student: str
    closed: bool

    def notebooks(self, world: World) -> Notebooks:
        """The submission by the names of its files; a value that can be called makes the file itself, given its path."""
        found = {NOTEBOOK: released()[NOTEBOOK]}
        write_cell(found, BEFORE, "bubbles_per_stage = [6, 6, 6, 6]\nbubble_fraction_4_4 = 3 / 7")
        self.edit(found, world)
        return found


CASES: list[Case] = []


def bad(says="", earned=HONEST, status="graded", folder=ASSIGNMENT, student="", closed=False):
    """Keep an edit as a case; `student` is put behind the name of the student's folder."""
    def keep(edit):
        CASES.append(Case(edit.__name__.replace("_", "-"), edit, earned, status, says, folder, student, closed))
        return edit
    return keep


def cell(name, source, says="", **options):
    """A case that is one more cell, before the first answer; `source` may be made of the world."""
    def edit(notebooks, world):
        add_cell(notebooks, FIRST, source(world) if callable(source) else source)

    edit.__name__ = name
    bad(says, **options)(edit)


def ending(name, source, says="", **options):
    """A case that is some more lines of an answer."""
    def edit(notebooks, world):
        append_to_cell(notebooks, FIRST, source)

    edit.__name__ = name
    bad(says, **options)(edit)


def file(name, content, says="", earned=None, status="rejected", **options):
    """A case in which something else lies in the notebook's place: bytes, or what makes it, given its path."""
    def edit(notebooks, world):
        notebooks[NOTEBOOK] = content

    edit.__name__ = name
    bad(says, earned or {}, status, **options)(edit)


def named(name, student, says="", **options):
    """A case that is honest but for the name of the student's folder."""
    def edit(notebooks, world):
        """Nothing is changed."""

    edit.__name__ = name
    bad(says, student=student, **options)(edit)


def whole() -> Notebooks:
    """Notebook 1 with every answer right: the neighbours."""
    return {NOTEBOOK: solved()[NOTEBOOK]}
