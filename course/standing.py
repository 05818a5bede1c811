"""How far a learner is: each notebook with its parts and points, each exercise, and what is next."""

from itertools import groupby
from pathlib import Path

from course.exercises import EXERCISES
from course.hand_in import is_written
from course.progress import Progress
from course.view import View, paragraphs, points, table, together


def standing_view(record: Progress, folder: Path) -> View:
    """What is done and what is next, from the verdicts that were kept; `record.trouble` is set where they could not be read."""
    found = record.read()
    exercises = list(EXERCISES.values())
    last = {entry.grade_id: record.points(found, entry.grade_id, "points") for entry in exercises}
    done = {entry.grade_id: is_written(folder, entry) if entry.manual else (last[entry.grade_id] or 0) >= entry.points
            for entry in exercises}
    notebooks = []
    for notebook, group in groupby(exercises, key=lambda entry: entry.notebook):
        parts = list(group)
        judged = [entry for entry in parts if not entry.manual]
        ready = sum(done[entry.grade_id] for entry in parts)
        notebooks.append(["✓" if ready == len(parts) else "", notebook, f"{ready} of {len(parts)}", _share(judged, last)])
    following = next((entry for entry in exercises if not done[entry.grade_id]), None)
    judged, by_hand = ([entry for entry in exercises if entry.manual is manual] for manual in (False, True))
    texts = points(sum(entry.points for entry in by_hand))
    said = [f"Points so far: {_share(judged, last)}; {texts} more are a person's to give.",
            f"Next: {following.title}, in {following.notebook}." if following else
            "All exercises have full points or wait for a person's mark."]
    return together(table(["", "notebook", "parts done", "points"], notebooks), paragraphs(*said),
                    table(["notebook", "exercise", "points at the last check", "of", "hints taken"],
                          [_row(entry, record, found, done[entry.grade_id]) for entry in exercises], "Part by part"))


def _share(judged, last):
    return (f"{points(sum(last[entry.grade_id] or 0 for entry in judged))} of "
            f"{points(sum(entry.points for entry in judged))}")


def _row(entry, record, found, done):
    hints = found["hints"].get(entry.grade_id, 0)
    if entry.manual:
        return [entry.notebook, entry.title, "a person marks it" if done else "not written", points(entry.points), hints]
    last, best = (record.points(found, entry.grade_id, key) for key in ("points", "best"))
    once = f" (once {points(best)})" if last is not None and best is not None and best > last else ""
    return [entry.notebook, entry.title, "-" if last is None else points(last) + once, points(entry.points), hints]
