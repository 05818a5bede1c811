"""A class of eight made-up submissions as an LMS gives them: python -m autograder.sample_class FOLDER."""

import argparse
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from autograder.submissions import (
    Notebooks,
    add_cell,
    append_to_cell,
    as_bytes,
    delete_cell,
    released,
    repeat_cell,
    solved,
    truncate,
    write_cell,
    write_submission,
)
from course.hand_in import ASSIGNMENT


def right() -> Notebooks:
    """Every answer right."""
    return solved()


def untouched() -> Notebooks:
    """Handed in as it was released."""
    return released()


def partly_right() -> Notebooks:
    """The slips that people make: 1F1B for GPipe, idle over ideal for idle over total, GPipe's memory for both."""
    notebooks = solved()
    write_cell(notebooks, "ex1-diagram-answer", '''gpipe_diagram = """
F0 F1 F2 F3 .  .  .  B0 .  B1 .  B2 .  B3
.  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3 .
.  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .  .
.  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .  .
"""''')
    write_cell(notebooks, "ex2-in-flight-answer", "def peak_in_flight(schedule, p, m, stage):\n    return m")
    write_cell(notebooks, "ex3-use-answer", "bubble_4_8 = 3 / 8\nbubble_8_64 = 7 / 64")
    write_cell(notebooks, "ex4-explain", "*Your answer here.*")
    return notebooks


def truncated() -> Notebooks:
    """One notebook ends in its middle."""
    notebooks = solved()
    truncate(notebooks, "3_bubble_fraction.ipynb")
    return notebooks


def cells_lost_and_copied() -> Notebooks:
    """One answer deleted, one copied with another text, one check rewritten to say 10."""
    notebooks = solved()
    delete_cell(notebooks, "ex2-phases-answer")
    repeat_cell(notebooks, "ex1-bubbles-answer", "bubbles_per_stage = bubble_fraction_4_4 = 0")
    write_cell(notebooks, "ex1-diagram-answer", "gpipe_diagram = ''")
    write_cell(notebooks, "ex1-diagram", "10.0")
    return notebooks


def endless() -> Notebooks:
    """One answer never ends."""
    notebooks = solved()
    write_cell(notebooks, "ex3-inverse-answer", """def micro_batches_needed(p, fraction):
    m = 1
    while bubble_fraction(p, m) > fraction:
        m + 1
    return m""")
    return notebooks


def hostile() -> Notebooks:
    """Nothing answered; a cell looks for the marks and the tests, and patches whatever judges answers."""
    notebooks = released()
    add_cell(notebooks, "ex1-diagram-answer", '''import builtins, pathlib
import course.checks.gpipe_diagram as checks, course.exercises

class Everything:
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = None
    __float__ = lambda self: 10.0

checks.check_diagram = course.exercises.judge = lambda *answers: 10.0
builtins.repr = lambda value: "10.0"
found = [path.read_bytes() for path in pathlib.Path().absolute().parents[0].glob("*gradebook*")]
gpipe_diagram = bubbles_per_stage = bubble_fraction_4_4 = illegal_operations = Everything()''')
    return notebooks


def ends_its_process() -> Notebooks:
    """One answer ends the process that runs it."""
    notebooks = solved()
    append_to_cell(notebooks, "ex5-memory-answer", "import os\nos._exit(0)")
    return notebooks


CLASS: tuple[Callable[[], Notebooks], ...] = (
    right, untouched, partly_right, truncated, cells_lost_and_copied, endless, hostile, ends_its_process)


def write_class(downloads: Path):
    """Write student-1 to student-8 in the forms that `collect` takes: a zip, a folder or loose notebooks, in turn."""
    downloads.mkdir(parents=True)
    for number, made in enumerate(CLASS, 1):
        student, notebooks = f"student-{number}", made()
        if number % 3 == 1:
            with zipfile.ZipFile(downloads / f"{student}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for name, notebook in notebooks.items():
                    archive.writestr(f"{ASSIGNMENT}/{name}", as_bytes(notebook))
        elif number % 3 == 2:
            write_submission(downloads / student, notebooks)
        else:
            for name, notebook in notebooks.items():
                (downloads / f"{student}_{name}").write_bytes(as_bytes(notebook))


def main(arguments: list[str] | None = None) -> int:
    """Write the class and say who is who."""
    parser = argparse.ArgumentParser(prog="python -m autograder.sample_class", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder that is not there yet")
    folder = parser.parse_args(arguments).folder
    try:
        write_class(folder)
    except FileExistsError:
        print(f"python -m autograder.sample_class: {folder} is there already: name another folder, or delete it", file=sys.stderr)
        return 2
    for number, made in enumerate(CLASS, 1):
        print(f"student-{number}: {made.__doc__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
