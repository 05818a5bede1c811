"""From the learner's folder to one zip for the instructor."""

import json
import os
import re
import tempfile
import time
import zipfile
from pathlib import Path

from course.exercises import EXERCISES, Exercise
from course.progress import FIRST_NOTEBOOK, Progress
from course.words import counted

ASSIGNMENT = "pipeline_parallelism"
ZIP = f"{ASSIGNMENT}.zip"
WITHOUT_POINTS = (FIRST_NOTEBOOK, "7_open_lab.ipynb")  # nobody has to hand them in
_OPEN = re.compile(r"(?<![\w.])\.\.\.(?![\w.])")  # what a released notebook holds in place of code
STUB = "*Your answer here.*"  # what a released notebook holds in place of a text that a person marks


def notebooks_to_hand_in() -> list[str]:
    """The file names of the notebooks that hold exercises, in their order."""
    return sorted({f"{entry.notebook}.ipynb" for entry in EXERCISES.values()})


def find_problems(folder: Path) -> list[str]:
    """Why the folder is not ready: notebooks missing, unreadable, or older on disk than their last check."""
    record, problems = Progress(folder).read(), []
    for name in notebooks_to_hand_in():
        path = folder / name
        try:
            ids = {_grade_id(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
            saved = path.stat().st_mtime
        except FileNotFoundError:
            problems.append(f"{name} is not in {folder}: put it back there, under this name.")
            continue
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            problems.append(f"{name} cannot be read ({type(error).__name__}): open it, save it, and hand in again.")
            continue
        parts = [entry for entry in EXERCISES.values() if f"{entry.notebook}.ipynb" == name]
        lost = [entry.grade_id for entry in parts if entry.grade_id not in ids]
        if lost:
            problems.append(f"{name} has lost its cell {lost[0]}: take a fresh copy of the notebook and move your answers over.")
        last = max((Progress.points(record, entry.grade_id, "time") or 0 for entry in parts), default=0)
        if last > saved + 1:
            problems.append(f"{name} was checked after it was last saved: save it (Ctrl+S in its tab), then hand in again.")
    return problems


def describe_contents(folder: Path) -> list[str]:
    """What the zip holds, for the learner to compare: when each notebook was saved, and what has no full points yet."""
    record = Progress(folder).read()
    lines = []
    for name in notebooks_to_hand_in():
        minutes = int((time.time() - (folder / name).stat().st_mtime) / 60)
        lines.append(f"{name} as it was saved {counted(minutes, 'minute')} ago: what you changed since then is not in it.")
    sources = {notebook: _sources(folder, notebook) for notebook in {entry.notebook for entry in EXERCISES.values()}}
    for entry in EXERCISES.values():
        points = Progress.points(record, entry.grade_id, "points")
        state = ""
        if entry.manual:
            state = "" if _is_text(sources[entry.notebook].get(entry.grade_id)) else "nothing is written there yet"
        elif points is None or points < entry.points:
            state = "never checked" if points is None else f"{points:g} of {entry.points:g} points at its last check"
        elif _OPEN.search(sources[entry.notebook].get(f"{entry.grade_id}-answer", "")):
            state = "its cell as it was saved holds a `...`, which is no answer"
        lines += [f"Not complete: {entry.title} in {entry.notebook}, {state}."] * bool(state)
    if len(lines) == len(notebooks_to_hand_in()):
        lines.append("Every exercise has full points at its last check, or waits for a person's mark.")
    return lines


def old_zip(folder: Path) -> list[str]:
    """What to say of a zip that an earlier call has left, where this one writes none."""
    try:
        written = time.strftime("%H:%M on %d %B", time.localtime((folder / ZIP).stat().st_mtime))
    except OSError:
        return []
    return [f"The {ZIP} that lies here is an older one, of {written}: it does not hold what you have done since."]


def is_written(folder: Path, entry: Exercise) -> bool:
    """Whether the cell of an exercise that a person marks holds a text, in the notebook as it was last saved."""
    return _is_text(_sources(folder, entry.notebook).get(entry.grade_id))


def _is_text(source):
    return source is not None and source.strip() not in ("", STUB)


def _sources(folder, notebook):
    """grade_id -> text of its first cell, of a notebook as it was last saved; empty where it cannot be read."""
    found = {}
    try:
        for cell in json.loads((folder / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]:
            if grade_id := _grade_id(cell):
                source = cell.get("source")
                found.setdefault(grade_id, source if isinstance(source, str) else "".join(map(str, source or ())))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return found


def _grade_id(cell):
    for key in ("metadata", "nbgrader", "grade_id"):
        cell = cell.get(key) if isinstance(cell, dict) else None
    return cell if isinstance(cell, str) else None


def write_zip(folder: Path) -> Path:
    """Write the zip of the folder's graded notebooks, whole or not at all. OSError when it cannot be written."""
    target = folder / ZIP
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{ZIP}.")
    os.close(handle)
    try:
        with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
            for notebook in notebooks_to_hand_in():
                archive.write(folder / notebook, f"{ASSIGNMENT}/{notebook}")
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    return target
