"""`python -m autograder report`: the class from the gradebook, as tables to read and as CSV for an LMS."""

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from autograder.autograded import printable
from autograder.gradebook import GradebookError, shown
from autograder.standings import Standing, most, notebooks, read_results, read_standings
from course.exercises import EXERCISES
from course.progress import write_atomically
from course.view import points, table

UNANSWERED = "unanswered"
GRADEBOOK = "autograder/gradebook.db"
MOST_MESSAGES, MOST_NAMES, LONGEST_TEXT = 12, 10, 90
BINS = ("0", "below half", "half or more", "all", "open")
BARS = " ▁▂▃▄▅▆▇█"
DONE, REFUSED = 0, 2


def class_table(standings: Sequence[Standing]) -> str:
    """A line a student: points of each notebook, total, and what waits for a person."""
    short = [name.partition("_")[0] for name in notebooks()]
    rows = [["of", *(points(most(name)) for name in notebooks()), points(most()), ""]]
    for one in standings:
        waiting = f"{len(one.waiting)} to mark" if one.waiting else ""
        state = ", ".join(filter(None, [one.status.replace("graded", ""), waiting])) if one.points else "nothing handed in"
        rows.append([one.student, *(points(one.total(name)) for name in notebooks()), points(one.total()), state])
    return table(["student", *short, "total", ""], rows, "Points by notebook").text


def part_bins(standings: Sequence[Standing], grade_id: str) -> list[int]:
    """How many of those who handed in have each of BINS in a part; open is what a person has yet to mark."""
    counts, full = dict.fromkeys(BINS, 0), EXERCISES[grade_id].points
    for one in standings:
        if grade_id in one.points:
            share = one.points[grade_id] / full
            counts["open" if grade_id in one.waiting else "0" if share <= 0 else "below half" if share < 0.5
                   else "half or more" if share < 1 else "all"] += 1
    return list(counts.values())


def parts_table(standings: Sequence[Standing]) -> str:
    """The histogram of points of each part: counts, and the same as bars."""
    rows = []
    for grade_id, entry in EXERCISES.items():
        counts = part_bins(standings, grade_id)
        marked = [one.points[grade_id] for one in standings if grade_id in one.points and grade_id not in one.waiting]
        mean = points(sum(marked) / len(marked)) if marked else "-"
        bars = "".join(BARS[-(-count * (len(BARS) - 1) // max(*counts, 1))] for count in counts)
        rows.append([grade_id, points(entry.points), mean, *counts, f"|{bars}|"])
    return table(["part", "of", "mean", *BINS, "histogram"], rows, "Students by the points of each part").text


def common_messages(standings: Sequence[Standing]) -> list[tuple[int, str, str, str]]:
    """(students, grade_id, code, an example of its text) of what was said most often about answers that are there."""
    count, texts = Counter(), {}
    for one in standings:
        for grade_id, messages in one.messages.items():
            for code, text in dict(map(tuple, messages)).items():
                if code != UNANSWERED:
                    count[grade_id, code] += 1
                    texts.setdefault((grade_id, code), text)
    return [(number, *key, texts[key]) for key, number in count.most_common(MOST_MESSAGES)]


def messages_table(standings: Sequence[Standing]) -> str:
    """The commonest messages."""
    rows = [[number, grade_id, code, _short(text)] for number, grade_id, code, text in common_messages(standings)]
    return table(["students", "part", "message", "for instance"], rows, "Commonest messages").text if rows else ""


def notes_text(standings: Sequence[Standing]) -> str:
    """What was not as it should be, each note once with those whom it is about."""
    students = {}
    for one in standings:
        for note in one.notes:
            students.setdefault(note, []).append(one.student)
    lines = [f"{_names(names)}: {_short(note, 3 * LONGEST_TEXT)}" for note, names in students.items()]
    return "\n".join(["Notes of the grading", *lines]) if lines else ""


def waiting_text(standings: Sequence[Standing]) -> str:
    """What a person has yet to mark, by part."""
    lines = []
    for grade_id, entry in EXERCISES.items():
        names = [one.student for one in standings if grade_id in one.waiting]
        why = "a text" if entry.manual else "it could not be graded, or has changed since it was marked by hand"
        lines += [f"{grade_id} in {entry.notebook}: {why}: {_names(names)}"] * bool(names)
    return "\n".join(["Still to be marked by a person, in formgrader", *lines] if lines else ["Everything is marked."])


def _names(students):
    more = len(students) - MOST_NAMES
    return ", ".join(students[:MOST_NAMES]) + f" and {more} more" * (more > 0)


def _short(text, longest=LONGEST_TEXT):
    text = " ".join(printable(text).split())
    return text if len(text) <= longest else f"{text[:longest - 1]}…"


def as_csv(standings: Sequence[Standing]) -> str:
    """A line a student for an LMS: id, total, maximum, points by notebook, how many parts still wait, status."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "total", "maximum", *notebooks(), "to_mark", "status"])
    for one in standings:
        status = one.status or ("graded" if one.points else "missing")
        writer.writerow([one.student, points(one.total()), points(most()), *(points(one.total(name)) for name in notebooks()),
                         len(one.waiting), status])
    return text.getvalue()


def add(parser: argparse.ArgumentParser):
    """The arguments of `report`."""
    parser.add_argument("--gradebook", default=GRADEBOOK, metavar="FILE",
                        help=f"a file (SQLite) or a database's address; {GRADEBOOK}")
    parser.add_argument("--json", type=Path, metavar="OUT", help="what `grade --json` wrote: adds messages, notes and who was "
                        "rejected")
    parser.add_argument("--csv", type=Path, metavar="CSV", help="write the class for an LMS too: a line a student")


def run(arguments: argparse.Namespace) -> int:
    """Print the class; 2 where there is no gradebook to read."""
    try:
        results = read_results(arguments.json) if arguments.json else {}
    except (OSError, ValueError) as error:
        return _refuse(f"{arguments.json} cannot be read ({error}): `grade --json {arguments.json}` writes it")
    try:
        standings = read_standings(arguments.gradebook, results)
    except FileNotFoundError:
        return _refuse(f"there is no gradebook {arguments.gradebook}: `grade` makes it, or name another with --gradebook")
    except GradebookError as error:
        return _refuse(error)
    except SQLAlchemyError as error:
        said = " ".join(str(getattr(error, "orig", None) or error).split())
        return _refuse(f"{shown(arguments.gradebook)} is no gradebook that can be read: {said}")
    texts = [class_table(standings), parts_table(standings), messages_table(standings), notes_text(standings),
             waiting_text(standings)]
    print("\n\n".join(filter(None, texts)))
    if arguments.csv:
        try:
            write_atomically(arguments.csv, as_csv(standings))
        except OSError as error:
            return _refuse(f"{arguments.csv} cannot be written: {error.strerror}")
    return DONE


def _refuse(reason):
    print(f"python -m autograder report: {reason}", file=sys.stderr)
    return REFUSED
