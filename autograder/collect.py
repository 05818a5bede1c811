"""`python -m autograder collect DOWNLOADS`: what an LMS gave, into nbgrader's layout <student>/pipeline_parallelism/*.ipynb."""

import argparse
import contextlib
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from autograder.downloads import PLACES, sort_by_student
from autograder.files import Rejected, alike, said, shown
from autograder.handed_in import read_handed_in
from course.hand_in import ASSIGNMENT, notebooks_to_hand_in

SUBMITTED = "autograder/submitted"
MOST_NAMED = 3
TYPED = "onlinetext.html"  # Moodle's, in a folder of its own
DONE, TROUBLE, REFUSED = 0, 1, 2


class Collected(NamedTuple):
    """What became of one student's submission: collected, unchanged, kept (an earlier one that differs) or rejected, and why."""

    student: str
    state: str
    detail: str


def collect(downloads: Path, submitted: Path, pattern: re.Pattern | None = None, again: bool = False,
            task: str = "") -> list[Collected]:
    """Lay every student's notebooks into `submitted`, whole or not at all. OSError when a folder is not there."""
    students, nobodys = sort_by_student(os.listdir(downloads), pattern, task)
    submitted.mkdir(parents=True, exist_ok=True)
    found = [_collect_one(student, [downloads / name for name in names], submitted, again)
             for student, names in students.items()]
    others = alike([*students, *(name for name in os.listdir(submitted) if not name.startswith("."))])
    return ([one._replace(detail=", ".join(filter(None, [one.detail, _looks_like(others.get(one.student))]))) for one in found]
            + [_rejected(name, reason, submitted) for name, reason in nobodys.items()])


def _looks_like(others):
    return f"its id looks like {' and '.join(map(ascii, others))}: see that these are two people" if others else ""


def _collect_one(student, paths, submitted, again):
    target = submitted / student / ASSIGNMENT
    try:
        contents = read_handed_in(paths)
        if not contents.notebooks:
            others = f"; it holds {', '.join(map(shown, contents.others[:MOST_NAMED]))}" if contents.others else ""
            raise Rejected(f"no notebook of the course is in it{others}")
        if os.path.lexists(target) and not again:
            same = _notebooks_in(target) == contents.notebooks
            return (Collected(student, "unchanged", "") if same else
                    Collected(student, "kept", "an earlier submission that differs; --again replaces it"))
        _lay(contents.notebooks, target, submitted / f".collecting-{student}")
    except Rejected as error:
        inside = [shown(path.name) for path in paths if _is_download(path)]
        hint = f"; {inside[0]} holds submissions as an LMS names them: is it the folder to collect from?" if inside else ""
        return _rejected(student, f"{error}{hint}", submitted)
    except OSError as error:
        return _rejected(student, f"{target} cannot be written: {error.strerror or error}", submitted)
    except Exception as error:  # whatever happens, the class goes on
        return _rejected(student, f"it could not be collected ({said(error)}): open it by hand, or ask for it again", submitted)
    return Collected(student, "collected", "; ".join(filter(None, [_missing(contents), _typed(contents)])))


def _rejected(name, reason, submitted):
    stays = os.path.lexists(submitted / name / ASSIGNMENT)
    return Collected(name, "rejected", reason + "; what was collected before stays" * stays)


def _is_download(path):
    """Whether a folder holds entries of several students by an LMS's names: then it is no student's."""
    with contextlib.suppress(OSError):
        names = os.listdir(path) if path.is_dir() and not path.is_symlink() else []
        return len({found["student"] for name in names for place in PLACES.values() if (found := place.search(name))}) > 1
    return False


def _missing(contents):
    """What is not there, and what may be it under a name that is none of the course's; empty where all is there."""
    missing = [name for name in notebooks_to_hand_in() if name not in contents.notebooks]
    unknown = [shown(name) for name in contents.others if name.lower().endswith(".ipynb") and not name.startswith(".")]
    more = f" and {len(unknown) - MOST_NAMED} more" * (len(unknown) > MOST_NAMED)
    also = (f"; it also holds {', '.join(unknown[:MOST_NAMED])}{more}, which "
            f"{'is' if len(unknown) == 1 else 'are'} none of the course's: rename what should count, and collect with --again")
    return f"without {', '.join(missing)}{also * bool(unknown)}" if missing else ""


def _typed(contents):
    return f"what was typed into Moodle is not read: {shown(TYPED)}" if TYPED in contents.others else ""


def _notebooks_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _lay(notebooks, target, scratch):
    """Write the files beside the target first, then put them in its place; `scratch` may be what a killed run left."""
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        (scratch / "new").mkdir(parents=True)
        for name, data in notebooks.items():
            (scratch / "new" / name).write_bytes(data)
        target.parent.mkdir(exist_ok=True)
        if os.path.lexists(target):
            os.rename(target, scratch / "old")
        os.rename(scratch / "new", target)
    except BaseException:
        if os.path.lexists(scratch / "old") and not os.path.lexists(target):
            os.rename(scratch / "old", target)
        with contextlib.suppress(OSError):  # not empty: something of the student's is there
            target.parent.rmdir()
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def summary(found: list[Collected]) -> str:
    """A line for each student about whom something is to be said, and how many there are of each kind."""
    lines = [f"{one.student}: {one.state}{', ' if one.state == 'collected' else ': '}{one.detail}" for one in found if one.detail]
    counts = Counter(one.state for one in found)
    states = ", ".join(f"{counts[state]} {state}" for state in ("collected", "unchanged", "kept", "rejected") if counts[state])
    return "\n".join([*lines, states or "nothing to collect"])


def add(parser: argparse.ArgumentParser):
    """The arguments of `collect`."""
    parser.add_argument("downloads", type=Path, metavar="DOWNLOADS",
                        help="the folder with a zip, a folder or loose notebooks for each student, as the LMS names them: "
                             f"{', '.join(PLACES)}; or <student>.zip, <student>/, <student>_<notebook>.ipynb")
    parser.add_argument("--into", type=Path, default=Path(SUBMITTED), metavar="SUBMITTED", help=f"nbgrader's folder; {SUBMITTED}")
    parser.add_argument("--pattern", metavar="REGEX",
                        help="for other names: what is found of it is the student's id, or its first group, or (?P<student>...)")
    parser.add_argument("--task", default="", metavar="NAME",
                        help="how Blackboard's names begin, where the assignment's name or an id has an underscore")
    parser.add_argument("--again", action="store_true", help="replace earlier submissions that differ")


def run(arguments: argparse.Namespace) -> int:
    """Collect and print the summary: 0 when every submission is there, 1 when one is not, 2 when it was not begun."""
    try:
        pattern = re.compile(arguments.pattern) if arguments.pattern else None
        found = collect(arguments.downloads, arguments.into, pattern, arguments.again, arguments.task)
    except re.error as error:
        return _refuse(f"--pattern {arguments.pattern!r} is no regular expression: {error}")
    except NotADirectoryError:
        return _refuse(f"{arguments.downloads} is no folder: unpack what the LMS gave, and name the folder")
    except OSError as error:
        return _refuse(f"{error.filename} cannot be opened: {error.strerror}")
    print(summary(found))
    return TROUBLE if any(one.state in ("kept", "rejected") for one in found) else DONE


def _refuse(reason):
    print(f"python -m autograder collect: {reason}", file=sys.stderr)
    return REFUSED
