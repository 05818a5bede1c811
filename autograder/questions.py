"""The trusted side: a submission's cells run in a session, and each exercise's check asks it right after its answer's cell."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from autograder import judging
from autograder.cells import ASKED, GIVEN, ROWS, cells_to_run, is_check, prepared, without_magics
from autograder.intake import Cell, Submission
from autograder.judging import MOST, CheckFailed, Judges, Stopped, asks_for_runs
from autograder.trusted_runs import NotRun, TooMany, TrustedRuns
from course.checks.outcome import Message, Step
from course.exercises import EXERCISES
from course.plan import Row
from course.plan_rules import MOST_ROWS
from course.wire import to_wire

BUDGET, KEPT = 180.0, 1 / 12  # seconds of a submission, all notebooks together; the part kept for each notebook yet to come
OWN = 30.0  # seconds of a notebook after which no cell of the learner's own is begun: slow ones must not cost the answers
STARTS = 8  # of a notebook: after so many ends of its process what is left is not run again
NOT_THERE = "not handed in"
ALONE = "its process ended before or under it, or a cell that it needs was left out: it was asked again alone, and that counts"
AGAIN = "grade this submission again when the machine is less busy"
NO_FILES = ("files that a notebook has written or read at home are not there in grading: make what they hold in the notebook; "
            "for the experiment table, keep what run_experiment returned as `table`")
SETUP = 6  # times that a cell of ours may reach the limit
PRINTED, NOTE = 4000, 300  # characters of what a cell printed, and of what is said of it


@dataclass(frozen=True)
class Mark:
    """What an exercise got; `points` None where our side could not grade it, which `notes` say. `printed`: by its cells.

    `steps`: what the points are made of, none where the check was not asked or did not end.
    """

    points: float | None
    messages: tuple[Message, ...] = ()
    notes: tuple[str, ...] = ()
    printed: str = ""
    steps: tuple[Step, ...] = ()


@dataclass
class _Grading:
    """A submission on its way: the learner's time ends at `end`, `kept` seconds of it are for later; ours is counted apart."""

    sandbox: object
    trusted: TrustedRuns
    judges: Judges | ModuleType
    end: float
    seed: int
    kept: float = 0.0
    rows: set[Row] = field(default_factory=set)
    failed: str = ""  # why rows of this submission could not be run, which is no fault of its own

    @property
    def left(self) -> float:
        """Seconds of the learner's that are neither used up nor kept for later notebooks."""
        return self.end - self.kept - time.monotonic()

    def run(self, rows: Sequence[Row], session, most: int = MOST) -> list[dict]:
        """The lines of these rows. NotRun when they cannot be run, TooMany when they are more than `most` with those before."""
        if len(self.rows | set(rows)) > most:
            raise TooMany(f"{len(self.rows | set(rows))} different rows, and {most} are run for a submission")
        self.rows.update(rows)
        if self.failed:
            raise NotRun(self.failed)
        begin = time.monotonic()
        try:
            return self.trusted.lines(rows)
        except NotRun as error:
            self.failed = str(error)
            raise
        finally:
            took = time.monotonic() - begin
            self.end += took
            session.extend(took)


@dataclass
class _Notebook:
    """A notebook on its way: what is marked, and which cells are not run again, because they end their process or never end."""

    cells: Sequence[Cell]
    marks: dict[str, Mark] = field(default_factory=dict)
    deadly: dict[int, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)  # exercises whose process ended under them, or whose answer was left out
    own: float = 0.0  # seconds that cells of the learner's own have taken


class NotStarted(Exception):
    """A session did not come up: a fault of this machine, not of a submission."""


def grade(submission: Submission, sandbox, seed: int, trusted: TrustedRuns, judges: Judges | ModuleType = judging,
          budget: float = BUDGET) -> dict[str, Mark]:
    """grade_id -> Mark for each exercise that is graded here; what is not there has no points.

    The checks run in `judges`, or without any in this process. NotStarted where no session can be had.
    """
    grading, marks = _Grading(sandbox, trusted, judges, time.monotonic() + budget, seed), {}
    names = list(dict.fromkeys(entry.notebook for entry in EXERCISES.values()))
    for place, name in enumerate(names, 1):
        state = _Notebook(submission.notebooks.get(name, ()))
        grading.kept = KEPT * budget * sum(bool(submission.notebooks.get(later)) for later in names[place:])
        reason = submission.rejected.get(name, NOT_THERE)
        if state.cells:
            _grade_notebook(state, grading)
            reason = f"not asked: the {budget:g} s of a submission were used up"
        marks |= {grade_id: state.marks.get(grade_id, Mark(0.0, notes=(reason,))) for grade_id, entry in EXERCISES.items()
                  if entry.notebook == name and not entry.manual}
    return marks


def _grade_notebook(state, grading):
    for start in range(STARTS):
        if grading.left <= 0 or _in_a_session(state, grading, last=start == STARTS - 1):
            break
    # what ended the process may be a thread of a cell before, while others were at work: each is asked anew without those. What
    # is said then counts, be it more or less: of two answers a submission would have the better one
    for grade_id in [cell.grade_id for cell in state.cells if cell.grade_id in state.ended]:
        if grading.left > 0:
            needed, first = _needed(grade_id, state.cells), state.marks[grade_id]
            alone = _Notebook([cell for place, cell in enumerate(state.cells) if place in needed or cell.grade_id == grade_id])
            _in_a_session(alone, grading, last=True)
            if grade_id in alone.ended and grading.left <= 0:  # cut off by the time of the submission: it was not asked in full
                continue
            mark = alone.marks[grade_id]
            notes = dict.fromkeys((*first.notes, ALONE, *mark.notes))
            state.marks[grade_id] = replace(mark, notes=tuple(notes), printed=mark.printed or first.printed)


def _needed(grade_id, cells):
    """The places of what an exercise needs: its answer, those that this or its check names, and our cells but the checks."""
    checked = {f"{grade_id}-answer": set(entry.answers) for grade_id, entry in EXERCISES.items()}
    chosen, named = {f"{grade_id}-answer"}, set(EXERCISES[grade_id].answers)
    for cell in reversed(cells):
        if cell.grade_id in checked and (cell.grade_id in chosen or checked[cell.grade_id] & named):
            chosen.add(cell.grade_id)
            named |= set(re.findall(r"\w+", cell.source))
    return {place for place, cell in enumerate(cells) if cell.grade_id in chosen or (cell.ours and not is_check(cell))}


def _in_a_session(state, grading, last):
    before = prepared(state.cells)
    with grading.sandbox.session(budget=grading.left) as session:
        session.run(before)
        if session.ended:
            raise NotStarted(session.ended)
        return _run_through(state, session, grading, last)


def _run_through(state, session, grading, last):
    """Run and ask from the first cell to the last check; False where the process ended and there is more to be asked."""
    run, notes, left_out, ours_alone = set(cells_to_run(state.cells)), [], set(), True
    waiting = [cell.grade_id for cell in state.cells if is_check(cell) and cell.grade_id not in state.marks]
    for place, cell in enumerate(state.cells):
        if not waiting:
            return True
        if is_check(cell):
            if cell.grade_id in waiting:
                alive = not session.ended
                mark = _asked(cell.grade_id, session, grading, notes)
                state.marks[cell.grade_id] = replace(mark, printed=session.new_output()[:PRINTED])
                if session.ended or left_out & _needed(cell.grade_id, state.cells):
                    state.ended.add(cell.grade_id)
                waiting.remove(cell.grade_id)
                if alive and session.ended and waiting and not last:
                    return False
            session.new_output()
            notes = []
        elif place in state.deadly:
            left_out.add(place)
            notes.append(_short(f"{_named(cell)} was left out: {state.deadly[place]}"))
        elif place in run and not session.ended:
            if cell.grade_id is None and state.own > OWN:
                notes.append(f"{_named(cell)} was left out: such cells have taken more than {OWN:g} s")
                continue
            before = grading.left
            failed = _run_cell(cell, session, grading, notes)
            state.own += (before - grading.left) * (cell.grade_id is None)
            ours_alone = ours_alone and cell.ours
            if ours_alone and failed and failed.type in ("TimeLimit", "Ended") and grading.left > 0:
                raise NotStarted(f"{_named(cell)}, before any cell of the learner's: {failed.text}; {AGAIN}")
            if failed and failed.type == "TimeLimit":
                state.deadly[place] = failed.text
            if session.ended and not last:
                state.deadly[place] = session.ended
                return False
            if failed:
                notes.append(_short(f"{_named(cell)}: {failed.type}: {failed.text}"))
                if failed.type == "FileNotFoundError" and NO_FILES not in notes:
                    notes.append(NO_FILES)
    return True


def _short(text):
    return text if len(text) <= NOTE else text[:NOTE] + "…"


def _named(cell):
    return cell.grade_id or f"a cell of the learner's own, {cell.source.strip().splitlines()[0][:40]!r}"


def _run_cell(cell, session, grading, notes):
    """Run a cell, without IPython's lines where it is not Python with them; a second time when rows that it asked for are run."""
    source, found = cell.source, session.run(cell.source)
    for _ in range(SETUP * (cell.ours and cell.grade_id is not None)):  # imports of ours on a busy machine: they go on
        if found and found.type == "TimeLimit":
            found = session.run(source)
    if found and found.type == "SyntaxError" and (plain := without_magics(source)):
        notes.append(f"{_named(cell)}: lines with % and ! are left out")
        source, found = plain, session.run(plain)
    if not session.ended and ROWS in cell.source:
        try:
            if rows := grading.judges.rows(session.answer(ASKED)):
                most = MOST - MOST_ROWS * (cell.grade_id is None)  # the plan's are run whatever else was tried
                session.answer(GIVEN).wire(to_wire([grading.run(rows, session, most)]))
                found = session.run(source)
        except CheckFailed as error:
            grading.failed = str(error)
            notes.append(_short(f"rows of the experiment table were not read: {error}"))
        except (NotRun, TooMany, Stopped) as error:
            session.answer(GIVEN).wire(to_wire([[]]))  # the next cell asks for its own rows alone
            notes.append(_short(f"rows of the experiment table were not run: {error}"))
    return found


def _asked(grade_id, session, grading, notes):
    """Ask the exercise's check; what goes wrong on our side is no mark."""
    answers = [session.answer(name) for name in EXERCISES[grade_id].answers]
    try:
        if grading.failed and asks_for_runs(grade_id):  # the cell that asked for them has not got them either
            raise NotRun(grading.failed)
        verdict = grading.judges.judged(grade_id, answers, lambda rows: grading.run(rows, session), grading.seed)
    except Stopped as error:
        return Mark(0.0, notes=(*notes, f"its check was stopped at this answer: {error}"))
    except TooMany as error:
        return Mark(0.0, notes=(*notes, f"its rows were not run: {error}"))
    except NotRun as error:
        return Mark(None, notes=(*notes, f"{_short(f'not graded: its rows could not be run ({error})')}; {AGAIN}"))
    except CheckFailed as error:
        return Mark(None, notes=(*notes, f"{_short(f'not graded: the check itself failed ({error})')}; {AGAIN}"))
    return Mark(verdict.points, tuple(verdict.messages), tuple(notes), steps=tuple(verdict.steps))
