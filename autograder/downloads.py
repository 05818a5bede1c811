"""What an LMS gives: a folder with one zip, one folder or some loose notebooks a student. Whose is which, by its name."""

import re
from collections.abc import Iterable

from autograder.files import shown
from course.hand_in import ASSIGNMENT, WITHOUT_POINTS, notebooks_to_hand_in

# A name of each kind, and the part of it that is the student's id: the number (or name) by which the LMS takes marks back.
RULES = {
    "Moodle": re.compile(r".*?_(?P<student>\d+)_assignsubmission_.*"),  # Some Name_1234_assignsubmission_file_
    "Blackboard": re.compile(r".*?_(?P<student>[^_]+)_attempt_\d{4}-\d\d-\d\d.*"),  # Task_s123_attempt_2030-01-31-10-00-00_x.zip
    "Canvas": re.compile(r"[^_]+(?:_LATE)?_(?P<student>\d+)_\d+_.+", re.IGNORECASE),  # lastname_12345_67890_x.zip
}
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


def student_of(name: str, pattern: re.Pattern | None = None) -> str:
    """The student's id in the name of a zip, a folder or a loose notebook. ValueError where there is none.

    >>> [student_of(name) for name in ("Some Name_1234_assignsubmission_file_", "name_LATE_12_34_x.zip", "s-7.zip")]
    ['1234', '12', 's-7']
    """
    if pattern:
        found = pattern.search(name)
        student = found and (found.groupdict().get("student") or (found.groups() or [found[0]])[0])
        if not student:
            raise ValueError(f"--pattern {pattern.pattern!r} finds no student in it")
    else:
        notebook = _NOTEBOOK.fullmatch(name)
        before = name[:notebook.start("name")] if notebook else ""
        found = {match["student"]: kind for kind, rule in RULES.items()
                 if (match := rule.fullmatch(f"{before}x" if notebook else name))}
        if len(found) > 1:  # a student chooses the end of a name, and could choose it to be like another LMS's
            raise ValueError(f"its name says {' and '.join(f'{shown(one)} ({kind})' for one, kind in found.items())}: rename it, "
                             "or say with --pattern which part of the name is the id")
        student = next(iter(found), before.rstrip("_- ") if notebook else re.sub(r"\.zip$", "", name, flags=re.IGNORECASE))
    if not STUDENT.fullmatch(student):
        raise ValueError(f"{shown(student)} is no student's id (letters, digits, and . @ - _ or spaces inside): rename it, "
                         "or say with --pattern which part of the name is the id")
    if student.lower() == ASSIGNMENT:
        raise ValueError(f"its name is the assignment's and says no student: call it <student>.zip, or <student>/{name}")
    return student


def sort_by_student(names: Iterable[str], pattern: re.Pattern | None = None) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Names by the student whose they are, and the reason for each name that is nobody's. Hidden files are passed over."""
    students, nobodys = {}, {}
    for name in sorted(names):
        if name.startswith((".", "__MACOSX")):
            continue
        try:
            students.setdefault(student_of(name, pattern), []).append(name)
        except ValueError as error:
            nobodys[name] = str(error)
    return students, nobodys
