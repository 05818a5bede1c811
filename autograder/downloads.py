"""What an LMS gives: a folder with one zip, one folder or some loose notebooks a student. Whose is which, by its name."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from autograder.files import shown
from course.hand_in import ASSIGNMENT, WITHOUT_POINTS, notebooks_to_hand_in

# What an LMS puts between what a student chose (a name for display) and what he chose too (a name of a file), wherever it may
# begin: the real one is always there, so where all that are there say one id, it is the student's.
PLACES = {
    "Moodle": re.compile(r"(?=_(?P<student>[0-9]+)_assignsubmission_)"),  # Some Name_1234_assignsubmission_file_
    # Task_s123_attempt_2030-01-31-10-00-00_x.zip
    "Blackboard": re.compile(r"(?=_(?P<student>[^_]+)_attempt_[0-9]{4}(?:-[0-9]{2}){2,5})"),
    "Canvas": re.compile(r"(?=_(?P<student>[0-9]+)_[0-9]+_.)"),  # lastname_12345_67890_x.zip
}
_CANVAS = re.compile(r"[^_]+(?:_LATE)?", re.IGNORECASE)  # what comes first there, never with another _ in it
STUDENT = re.compile(r"\w(?:[\w.@ -]{0,62}[\w@-])?")  # what is safe as a folder, in a CSV and on nbgrader's command line
_NOTEBOOKS = "|".join(re.escape(name.removesuffix(".ipynb")) for name in [*WITHOUT_POINTS, *notebooks_to_hand_in()])
_NOTEBOOK = re.compile(rf"(?:.*_)?(?P<name>{_NOTEBOOKS})(?:[ _-]?\(?\d+\)?)?\.ipynb", re.IGNORECASE)


def notebook_named(name: str) -> str | None:
    """The course's notebook that a file is, whatever an LMS or a browser added before and after its name.

    >>> notebook_named("lastname_12_34_1_gpipe_diagram (1).ipynb"), notebook_named("other.ipynb")
    ('1_gpipe_diagram.ipynb', None)
    """
    found = _NOTEBOOK.fullmatch(name)
    return f"{found['name'].lower()}.ipynb" if found else None


class Whose(NamedTuple):
    """The id in the name of an entry, and the part that all entries of one submission have alike."""

    student: str
    origin: str


def student_of(name: str, pattern: re.Pattern | None = None, task: str = "") -> str:
    """The student's id in the name of a zip, a folder or a loose notebook. ValueError where there is none, or no sure one.

    `task`: how the assignment is called in Blackboard's names, needed where it or an id has an underscore.

    >>> [student_of(name) for name in ("Some Name_1234_assignsubmission_file_", "name_LATE_12_34_x.zip", "s-7.zip")]
    ['1234', '12', 's-7']
    """
    return _whose(name, pattern, task).student


def _whose(name, pattern, task):
    notebook = _NOTEBOOK.fullmatch(name)
    before = name[:notebook.start("name")] if notebook else ""
    if pattern:
        found = _by_pattern(name, pattern)
    else:
        found = _by_lms(f"{before}x" if notebook else name, task)
        if not found:
            student = before.rstrip("_- ") if notebook else re.sub(r"\.zip$", "", name, flags=re.IGNORECASE)
            found = Whose(student, "")
    if not STUDENT.fullmatch(found.student):
        raise ValueError(f"{shown(found.student)} is no student's id (letters, digits, and . @ - _ or spaces inside): rename it, "
                         "or say with --pattern which part of the name is the id")
    if found.student.lower() == ASSIGNMENT:
        raise ValueError(f"its name is the assignment's and says no student: call it <student>.zip, or <student>/{name}")
    return found


def _by_pattern(name, pattern):
    said = {}
    for match in pattern.finditer(name):
        group = "student" if "student" in pattern.groupindex else 1 if pattern.groups else 0
        if match[group]:
            said.setdefault(match[group], match.start(group))
    if not said:
        raise ValueError(f"--pattern {pattern.pattern!r} finds no student in it")
    if len(said) > 1:
        raise ValueError(f"--pattern {pattern.pattern!r} finds {' and '.join(map(shown, said))} in it: say with ^ or $ and what "
                         "stands beside it which of them is the id")
    (student, start), = said.items()
    return Whose(student, re.sub(f"(?i){_NOTEBOOKS}", "", name[:start]))


def _by_lms(name, task):
    """What the names of an LMS say; None where it is none of theirs."""
    places = [(kind, match) for kind, place in PLACES.items() for match in place.finditer(name)]
    places = [(kind, match) for kind, match in places
              if kind != "Canvas" or any(_CANVAS.fullmatch(name, 0, first.start()) for other, first in places if other == kind)]
    said = dict.fromkeys((match["student"], kind) for kind, match in places)
    if len(said) > 1 or sum(kind == "Blackboard" for kind, _ in places) > 1:
        raise ValueError(f"its name says {' and '.join(f'{shown(one)} ({kind})' for one, kind in said)}, and a part of it is its "
                         "student's choice: rename it, or say with --pattern which part of the name is the id")
    if not said:
        return None
    kind, match = places[0]
    student, start, end = match["student"], match.start("student"), match.end("student")
    if kind == "Blackboard":
        if task and not name.startswith(f"{task}_"):
            raise ValueError(f"it does not begin with {shown(f'{task}_')}, the --task: name the task as Blackboard's names do")
        if not task and "_" in name[:match.start()]:
            raise ValueError(f"the task's name or the id has an underscore, so {shown(student)} may be half of an id: say with "
                             "--task NAME how the assignment is called in these names")
        start = len(task) + 1 if task else start
        student, end = name[start:end], re.compile(r"_attempt_[0-9-]*").match(name, end).end()
    return Whose(student, name[:end])


def sort_by_student(names: Iterable[str], pattern: re.Pattern | None = None,
                    task: str = "") -> tuple[dict[str, list[str]], dict[str, str]]:
    """Names by the student whose they are, and what is nobody's, a name or an id that two claim, with the reason.

    Several files of one submission are one student's: all that stands in their names up to the id is alike. Hidden files are
    passed over.
    """
    students, nobodys = {}, {}
    for name in sorted(names):
        if name.startswith((".", "__MACOSX")):
            continue
        try:
            student, origin = _whose(name, pattern, task)
            students.setdefault(student, {}).setdefault(origin, []).append(name)
        except ValueError as error:
            nobodys[shown(name)] = str(error)
    for student, origins in list(students.items()):
        if len(origins) > 1:
            first, second = (shown(files[0]) for files in list(origins.values())[:2])
            nobodys[student] = (f"{first} and {second} both say this id, as two people's or two attempts: leave the one that "
                                f"counts in the folder{f' ({len(origins)} say it)' * (len(origins) > 2)}")
            del students[student]
    return {student: [name for files in origins.values() for name in files] for student, origins in students.items()}, nobodys
