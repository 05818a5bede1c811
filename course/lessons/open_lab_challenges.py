"""Notebook 7: the challenges, what is asked and what an answer in any form has of it."""

from course.answers import UNANSWERED
from course.challenges import CHALLENGES, challenge_of, judge_challenge, not_judged
from course.checks.outcome import Message, Outcome
from course.figures import stuck_figure
from course.lessons.one_line import shown
from course.reading import read_schedule
from course.real_run import NoRun, RealRun
from course.schedule import Schedule
from course.timeline import Timeline
from course.view import View, outcome_view, paragraphs, table, together


@shown
def challenge(key: str, answer=...) -> View:
    """Judge an answer in any form, a drawing, orders, CSV, a line to share, a function, a Schedule; `...` shows what is asked.

    No points, no record.
    """
    asked = challenge_of(key)
    if answer is ... or (isinstance(answer, str) and answer.strip() in ("", UNANSWERED)):
        return paragraphs(f"{asked.title}. {asked.task}", "No answer yet: put one in place of `...`.")
    if isinstance(answer, NoRun):
        return answer
    outcome, found = judged_answer(key, answer.run.schedule if isinstance(answer, RealRun) else answer)
    view = outcome_view(asked.title, outcome)
    if isinstance(found, Schedule) and "missing" not in outcome.codes and {"order", "deadlock"}.intersection(outcome.codes):
        return together(view, stuck_figure(found, "As far as it goes"))
    return view


def judged_answer(key: str, answer) -> tuple[Outcome, Schedule | Timeline | None]:
    """The outcome of an answer in any form that `read_schedule` reads, and what it read: None where it reads nothing."""
    asked = challenge_of(key)
    try:
        found = read_schedule(answer, asked.ranks, asked.micro_batches)
    except ValueError as error:
        return not_judged(asked, Message("unreadable", f"{str(error)[:1].upper()}{str(error)[1:]}.")), None
    return judge_challenge(key, found), found


@shown
def challenges() -> View:
    """What is asked in each challenge."""
    return table(["key", "challenge", "what is asked"], [[asked.key, asked.title, asked.task] for asked in CHALLENGES.values()])
