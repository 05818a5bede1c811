"""What a notebook does around a check: predict, show, check, hint, run for real, progress, hand in."""

import contextlib
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

from course.answers import LocalAnswer, Refused, UnknownName, encode
from course.checks.drawing_rules import read_answer
from course.checks.gpipe_diagram import judge_diagram
from course.checks.outcome import Message, as_number, is_number
from course.exercises import Verdict, exercise, judge
from course.exploring import explore, explore_layouts, open_lab
from course.figures import Figure, stuck_figure, timeline_figure
from course.hand_in import ZIP, describe_contents, find_problems, old_zip, write_zip
from course.legality import violations
from course.machine_check import machine_view
from course.pipeline import preload
from course.predictions import PREDICTIONS, NoPercentage, read_sure
from course.progress import Progress, is_grading
from course.real_run import GRADED, GatedRun, NoRun, RealRun, asked, no_run, run_subject
from course.schedule import Schedule
from course.simulation import Costs, simulate
from course.standing import standing_view
from course.timeline import Timeline
from course.view import View, outcome_view, paragraphs, table, together, verdict_view
from course.widgets.grid_editor import grid_editor
from course.widgets.hints import HintButtons
from course.widgets.names import explain_names, name_of, not_made
from course.words import nearest, number

__all__ = ["check", "check_machine", "draw_here", "explore", "explore_layouts", "hand_in", "hint", "open_lab", "practise",
           "predict", "progress", "reveal", "run_for_real", "show", "statements", "when_right"]

if not is_grading():
    preload()
    explain_names(lambda words: display(paragraphs(words)))


def check(grade_id: str, *answers) -> Verdict:
    """Judge the answers of an exercise and show what is right, what is not, and why. Its value is the points."""
    with _kernel_stays():
        verdict = judge(grade_id, *map(LocalAnswer, answers))
    if verdict.points == verdict.maximum:
        _full_points.add(grade_id)
    record = Progress()
    record.record_verdict(grade_id, verdict.points, verdict.maximum, [message.code for message in verdict.messages])
    display(verdict_view(verdict))
    _say_trouble(record)
    return verdict


@contextlib.contextmanager
def _kernel_stays():
    """Where an answer calls `exit()` it is IPython's, which ends the kernel a moment later: here it raises, as Python's does."""
    shell = get_ipython()
    if shell is None:
        yield
        return

    def refuse():
        raise SystemExit("`exit()` ends nothing here")

    shell.ask_exit = refuse
    try:
        yield
    finally:
        del shell.ask_exit


def practise(drawing, stages: int, micro_batches: int) -> View:
    """Look at a GPipe drawing of another size: what is right, what is not, and why. No points, no record."""
    outcome = judge_diagram(LocalAnswer(drawing), "the drawing", stages, micro_batches)
    return outcome_view("Practice", outcome)


def hint(grade_id: str, number: int | None = None):
    """Three buttons, one a hint, or the hint with this number at once. Hints cost nothing."""
    entry = exercise(grade_id)

    def take(taken):
        Progress().record_hint(grade_id, taken)

    views = [paragraphs(f"Hint {place} of 3: {text}") for place, text in enumerate(entry.hints, 1)]
    if number is None:
        return HintButtons(entry.title, [view.html for view in views], take)
    place = as_number(number)
    if place not in (1, 2, 3):
        return paragraphs(f"There is no hint {number!r}: they are 1, 2 and 3.")
    take(int(place))
    return views[int(place) - 1]


def predict(key: str, guess, sure=...) -> View:
    """Commit to an answer before the run, and to how sure you are of it, in percent. `...` is no prediction yet."""
    asked, remark = _prediction(key), ""
    if guess is ...:
        return paragraphs(f"No prediction yet: put your {asked.kind} in place of the first `...`, how sure you are of it (0 to "
                          "100) in place of the second, and run this cell again.")
    try:
        guess, sure = _plain(asked.read(encode(guess))), _plain(read_sure(encode(sure)))
    except NoPercentage as error:
        guess, sure, remark = _plain(asked.read(encode(guess))), None, f" How sure you are is not noted: {error}."
    except (Refused, ValueError) as error:
        return paragraphs(f"Not noted: {error}.")
    first = _noted(key)
    if first.get("seen"):
        if first.get("guess") != guess:
            return paragraphs(f"You predicted {_show(first.get('guess'))} before you saw it: that one stays.")
        sure, remark = first.get("sure"), ""
    else:
        record = Progress()
        _predictions[key] = {"guess": guess, "sure": sure}
        record.record_prediction(key, guess, sure)
        _say_trouble(record)
    return paragraphs(f"Noted: {_show(guess)}{_confidence(sure)}.{remark}")


_predictions: dict[str, dict] = {}
_full_points: set[str] = set()


def _noted(key):
    """The prediction that was made, empty where there is none."""
    found = _predictions.get(key) or Progress().read()["predictions"].get(key)
    return found if isinstance(found, dict) else {}


def _prediction(key):
    try:
        return PREDICTIONS[key]
    except (KeyError, TypeError):
        near = nearest(key, PREDICTIONS, "course.predictions", "PREDICTIONS")
        raise UnknownName(f"there is no prediction {key!r}; {near}") from None


def reveal(key: str, actual=None, after: str | None = None) -> View:
    """The number, beside the prediction that was made of it; `after` names the exercise that comes before."""
    asked = _prediction(key)
    actual = asked.actual if actual is None else actual
    if after and not _solved(after):
        return paragraphs(_not_yet(after))
    if actual is ... or actual is None:
        return paragraphs("Not known yet: the run above has not taken place.")
    noted, answer = _noted(key), f"{asked.what}: {_show(actual)}."
    if not noted:
        return paragraphs(f"{answer} You made no prediction: a guess before the run, even a wrong one, makes the reason stick.")
    guess, sure = noted.get("guess"), noted.get("sure")
    _predictions[key] = noted | {"seen": True}
    Progress().record_seen(key)
    if asked.matches(guess, actual):
        return paragraphs(f"{answer} You predicted it{_confidence(sure)}.")
    surprise = " You were sure of it: the reason is worth a second look." if is_number(sure) and sure >= 80 else ""
    return paragraphs(f"{answer} You predicted {_show(guess)}{_confidence(sure)}: not so.{surprise}")


def when_right(grade_id: str, view):
    """Show something once the check of this exercise has given full points: it would give the answer away.

    `view` is what to show, or a function without arguments that makes it and is called only then. Where that needs a name that
    no cell has made yet, it says so.
    """
    if not _solved(grade_id):
        return paragraphs(_not_yet(grade_id))
    try:
        return view() if callable(view) else view
    except NameError as error:
        if error.__traceback__.tb_next.tb_next:  # raised further down than in the cell's own function
            raise
        return paragraphs(not_made(error.name))


def statements(grade_id: str) -> View:
    """The statements of an exercise, each under the key that it has in the answer."""
    return table(["", "statement"], [[key, text] for key, text in exercise(grade_id).statements.items()])


def _solved(grade_id):
    best = Progress.points(Progress().read(), grade_id, "best")
    return grade_id in _full_points or best == exercise(grade_id).points


def _not_yet(grade_id):
    return (f"Not yet: this would give away the answer of the exercise \"{exercise(grade_id).title}\". It comes once its check "
            "gives full points; three hints help on the way.")


def _refused(grade_id, name):
    """What a run that had to wait for this exercise says: it is looked at later too, when the exercise may be done."""
    if not _solved(grade_id):
        return _not_yet(grade_id)
    what, again = (f"`{name}`", f"the cell that makes `{name}`") if name else ("This run", "its cell")
    return (f"{what} was refused when its cell ran: the check of the exercise \"{exercise(grade_id).title}\" did not give full "
            f"points then. It does now: run {again} again.")


def _confidence(sure):
    return f", {float(sure):g}% sure" if is_number(sure) else ""


def _plain(value):
    """What JSON can hold: a Fraction is kept as a float."""
    return float(value) if is_number(value) and not isinstance(value, int) else value


def _show(value):
    return f"{float(value):.4g}" if is_number(value) else str(value)


def show(subject, title: str = "", stages: int = 4, micro_batches: int = 4, costs: Costs | None = None,
         summary: bool = True, chunks: int | None = None) -> Figure | View:
    """A picture of a schedule (simulated), a timeline, a drawing as text, or a function (p, m, stage) -> order.

    `summary=False` leaves its numbers to you; of a function's order it says how long it takes. An order with faults is
    drawn as far as it goes. With `chunks` the function is one of (p, m, v, rank), and `stages` are ranks.
    """
    of_function = callable(subject)
    if of_function:
        subject = asked(subject, stages, micro_batches, chunks)
        if isinstance(subject, Message):
            return paragraphs(subject.text)
    if isinstance(subject, Schedule):
        if violations(subject):
            return stuck_figure(subject, title or "As far as it goes")
        subject = simulate(subject, costs)
    if not isinstance(subject, Timeline):
        reading = read_answer(LocalAnswer(subject).value(), "the drawing", stages, micro_batches)
        if isinstance(reading, Message):
            return paragraphs(reading.text)
        subject = reading.timeline
    drawn = timeline_figure(subject, title=title, summary=summary)
    if of_function and not summary:
        return together(drawn, paragraphs(f"The step takes {number(subject.makespan)} slots."))
    return drawn


def draw_here(text, stages: int = 4, slots: int = 16, micro_batches: int = 4):
    """Show the grid editor, in the cell that holds the drawing: it starts from the text and writes it back."""
    display(grid_editor(text if isinstance(text, str) else "", stages=stages, slots=slots, micro_batches=micro_batches))


def run_for_real(subject, stages: int = 4, micro_batches: int = 4, after: str | None = None, **options) -> RealRun | NoRun:
    """Train a small transformer by this drawing, schedule or function (p, m, stage) -> order, one process a stage.

    `after` names the exercise whose answer the run would give away: before its check gives full points there is no run. With
    `chunks` the function is one of (p, m, v, rank), and `stages` are ranks. `without` names rows of numbers to leave out:
    "bubble", "held".
    """
    if is_grading():
        return no_run(GRADED)
    if after and not _solved(after):
        return GatedRun(lambda run: _refused(after, name_of(run)))
    return run_subject(subject, stages, micro_batches, **options)


def check_machine() -> View:
    """Look at this machine: cores, memory, torch, processes; says what to do where something is missing."""
    return paragraphs("Not looked at while the notebook is graded or validated.") if is_grading() else machine_view()


def progress() -> View:
    """Which parts are done, the points so far, the hints taken, and what is next."""
    record = Progress()
    view = standing_view(record, Path.cwd())
    _say_trouble(record)
    return view


def hand_in() -> View:
    """Look whether the notebooks are there and saved, and write one zip of them for the instructor."""
    if is_grading():
        return paragraphs("Nothing is handed in while the notebook is graded or validated.")
    folder = Path.cwd()
    problems = find_problems(folder)
    if problems:
        return paragraphs("Not written yet:", *problems, *old_zip(folder))
    try:
        target = write_zip(folder)
    except OSError as error:
        return paragraphs(f"{ZIP} could not be written ({error.strerror}): make room, or ask for a folder you may write to.",
                          *old_zip(folder))
    return paragraphs(f"Written: {target.name}, beside this notebook. Download it (right click on it in the file list on the "
                      "left, Download) and give it to your instructor.", *describe_contents(folder))


def _say_trouble(record):
    if record.trouble:
        display(paragraphs(record.trouble))
