"""The learner's record: verdicts, hints taken and predictions, in one JSON file beside the notebooks, on this machine only."""

import json
import os
import tempfile
import time
from pathlib import Path

FILE = "progress.json"
FIRST_NOTEBOOK = "0_start_here.ipynb"
GRADING = ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING")


def is_grading() -> bool:
    """Whether nbgrader runs this notebook, to grade or to validate it."""
    return any(os.environ.get(name) for name in GRADING)


class Progress:
    """The record of one folder of notebooks. Without the course's notebooks in the folder, or while grading, nothing is written.

    `trouble` says in one sentence why the last change could not be kept, empty when it was.
    """

    def __init__(self, folder: Path | None = None):
        self._path = (folder or Path.cwd()) / FILE
        self.trouble = ""

    @property
    def kept(self) -> bool:
        """Whether this folder is one where a record is kept."""
        return self._path.with_name(FIRST_NOTEBOOK).exists() and not is_grading()

    def read(self) -> dict:
        """The record: `verdicts` by grade_id, `hints` by grade_id, `predictions` by key. A damaged file is put aside."""
        empty = {"verdicts": {}, "hints": {}, "predictions": {}}
        if not self.kept:
            return empty
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return {**empty, **{key: value for key, value in found.items() if isinstance(value, dict)}}
        except FileNotFoundError:
            return empty
        except (OSError, ValueError, AttributeError, RecursionError):
            aside = self._path.with_suffix(".damaged.json")
            try:
                os.replace(self._path, aside)
                self.trouble = f"{FILE} could not be read and was put aside as {aside.name}; a new one is begun."
            except OSError as error:
                self.trouble = f"{FILE} cannot be read: {error.strerror}."
            return empty

    @staticmethod
    def points(record: dict, grade_id: str, key: str) -> float | None:
        """`points`, `best` or `time` of an exercise's verdict in a record that was read; None where there is none."""
        entry = record["verdicts"].get(grade_id)
        value = entry.get(key) if isinstance(entry, dict) else None
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def record_verdict(self, grade_id: str, points: float, maximum: float, codes=()):
        """Keep the last and the best points of an exercise."""
        def change(record):
            best = max(points, self.points(record, grade_id, "best") or 0.0)
            record["verdicts"][grade_id] = {"points": points, "best": best, "maximum": maximum, "codes": list(codes),
                                            "time": time.time()}
        self._change(change)

    def record_hint(self, grade_id: str, number: int):
        """Keep how many hints of an exercise were asked for."""
        def change(record):
            taken = record["hints"].get(grade_id, 0)
            record["hints"][grade_id] = max(number, taken if isinstance(taken, int) else 0)
        self._change(change)

    def record_prediction(self, key: str, guess, sure=None):
        """Keep a guess and how sure the learner is of it, in percent."""
        def change(record):
            record["predictions"][key] = {"guess": guess, "sure": sure, "time": time.time()}
        self._change(change)

    def record_seen(self, key: str):
        """Keep that the answer stood beside this prediction: another guess comes too late."""
        def change(record):
            if isinstance(record["predictions"].get(key), dict):
                record["predictions"][key]["seen"] = True
        self._change(change)

    def _change(self, change):
        self.trouble = ""
        if not self.kept:
            return
        record = self.read()
        change(record)
        try:
            write_atomically(self._path, json.dumps(record, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            self.trouble = f"{FILE} could not be written ({error.strerror}): the verdict stands, your progress is not kept."


def write_atomically(path: Path, text: str):
    """Write a whole file or nothing; a device or a pipe is written to. OSError when it cannot be done; an old file then stays."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
