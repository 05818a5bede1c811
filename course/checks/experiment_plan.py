"""Notebook 6: the plan of an experiment table, and the lesson's four configurations before it."""

import itertools
from collections.abc import Mapping
from fractions import Fraction

from course.answers import UNANSWERED
from course.checks.experiment_rows import DIFFERENT, different
from course.checks.outcome import Message, Outcome, Step, is_number, show_value, unreadable
from course.formulas import PPConfig
from course.plan import Row, written
from course.plan_rules import BATCH, EXAMPLE, MOST_ROWS, read_plan

LESSON = (PPConfig(2, 8, 4), PPConfig(4, 8, 4), PPConfig(4, 32, 1), PPConfig(8, 64, 1))
WANTED = f"It is a list of rows, each a dict such as `{EXAMPLE}`."


def check_plan(configurations) -> Outcome:
    """Points for rows that can be run (2), one global batch (1), two values of pp (1) and of micro_batches (1), chunks (1)."""
    value = configurations.value()
    trouble = unreadable(value, "configurations", WANTED)
    if not trouble and isinstance(value, list) and value and all(item == UNANSWERED for item in value):
        trouble = Message("unanswered", f"`configurations` has no rows yet. {WANTED}")
    if trouble:
        return Outcome(_steps(), (trouble,))
    plan = read_plan(value)
    rows = list(plan.rows.values())
    alike = _alike(plan.problems)
    messages = [_said(problems) for problems in alike[:6]]
    if more := sum(map(len, alike[6:])):
        messages.append(Message("more", f"And {more} rows more break a rule."))
    if not rows:
        return Outcome(_steps(), tuple(messages))
    bad = sum(problem.row is not None and problem.code != "other-batch" for problem in plan.problems)
    runnable = Fraction(plan.count - bad, plan.count * (2 if plan.count > MOST_ROWS else 1))
    one_batch = len(rows) > 1 and not any(problem.code == "other-batch" for problem in plan.problems)
    varied = {name: len({getattr(row, name) for row in rows}) > 1 for name in ("pp", "micro_batches")}
    chunks = any(row.chunks > 1 and row.pp > 1 for row in rows)
    meant = any(problem.nearest and problem.nearest.chunks > 1 for problem in plan.problems)
    messages += _missing(rows, varied, chunks or meant, " that can be used" * bool(bad))
    steps = _steps(runnable, one_batch, varied["pp"], varied["micro_batches"], chunks)
    if all(step.share == 1 for step in steps):
        messages.append(Message("plan-right", f"{plan.count} rows that can be run, with one global batch of "
                                f"{rows[0].global_batch} samples and one model of {rows[0].layers} layers.", good=True))
        messages += _advice(plan.rows)
    return Outcome(steps, tuple(messages))


def _alike(problems):
    """The problems in lists, one for each thing that is to be said of rows; what is the whole plan's stands alone."""
    found = {}
    for problem in problems:
        found.setdefault((problem.row is None, problem.code, problem.text), []).append(problem)
    return list(found.values())


def _said(problems):
    """One message about rows that break a rule in the same way."""
    first = problems[0]
    if len(problems) == 1:
        return Message(first.code, str(first))
    numbers = [problem.row for problem in problems]
    in_a_row = len(numbers) > 2 and numbers == [*range(numbers[0], numbers[-1] + 1)]
    rows = f"{numbers[0]} to {numbers[-1]}" if in_a_row else ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"
    nearest = f" The nearest to row {first.row} that obeys: {written(first.nearest.as_dict())}" if first.nearest else ""
    return Message(first.code, f"Rows {rows}: {first.text}{nearest}")


def _steps(runnable=0, batch=False, pp=False, micro_batches=False, chunks=False):
    return (Step("rows that can be run", 2, runnable), Step("one global batch", 1, batch),
            Step("two values of pp", 1, pp), Step("two values of micro_batches", 1, micro_batches),
            Step("one row with several stages a rank", 1, chunks))


def _missing(rows, varied, chunks, usable):
    """What the rows that can be run do not show."""
    if len(rows) == 1:
        yield Message("one-row", "There is only one row that can be used: a table compares, so it takes more.")
    if len(rows) > 1 and not varied["pp"]:
        yield Message("one-pp", f"All rows{usable} have pp = {rows[0].pp}: with one number of ranks the table says nothing about "
                      "it. Give at least two.")
    if len(rows) > 1 and not varied["micro_batches"]:
        yield Message("one-micro-batches", f"All rows{usable} have micro_batches = {rows[0].micro_batches}: give at least two "
                      "numbers; the micro-batch size then differs as well, because the global batch is fixed.")
    if not chunks:
        alone = any(row.chunks > 1 for row in rows)
        named = any(row.schedule == "interleaved_1f1b" for row in rows)
        why = "on one rank there is no pipeline to interleave, so take pp above 1" if alone else (
            "with chunks = 1 it is plain 1F1B, so take 2 or more" if named else "take interleaved_1f1b, with 2 chunks or more")
        yield Message("not-interleaved", f"No row is interleaved: {why}.")


def _advice(rows: Mapping[int, Row]):
    """What a plan with full points may still want."""
    twice = [(one, two) for one, two in itertools.combinations(rows, 2) if rows[one] == rows[two]]
    if twice:
        yield Message("same-rows", "Rows {} and {} are the same: the second says nothing new.".format(*twice[0]), good=True)
    if (count := len(different(list(rows.values())))) < DIFFERENT:
        yield Message("few-rows", f"For the table and its conclusions take {DIFFERENT} different rows or more: with {count} they "
                      "cannot have all of their points.", good=True)
    if not any(row.parts for row in rows.values()):
        yield Message("no-parting", "In all of these rows the formula of the bubble holds. The table also asks for one in which "
                      "it does not: give a row `slow_stage` or `message`.", good=True)


def judge_mended(configuration, batch: int = BATCH) -> Outcome:
    """Practice: whether a configuration with 8 stages has the global batch of the other three."""
    value = configuration.value()
    trouble = unreadable(value, "the configuration", "It is a `PPConfig(pp, micro_batches, micro_batch_size)`.")
    if not trouble and not (isinstance(value, dict) and {"pp", "micro_batches", "micro_batch_size"} <= set(value)):
        trouble = Message("not-a-configuration", f"A `PPConfig` is wanted, found {show_value(value)}.")
    if not trouble and UNANSWERED in value.values():
        trouble = Message("unanswered", "Put numbers in place of the `...` and run the cell.")
    if trouble:
        return Outcome((Step("mended", 1, False),), (trouble,))
    pp, m, size, dp = (value.get(name, 1) for name in ("pp", "micro_batches", "micro_batch_size", "dp"))
    text = next(((name, number) for name, number in value.items() if isinstance(number, str)), None)
    if text:
        said = Message("number-as-text", f"{text[0]} = {show_value(text[1])} is text: write the number without quotes.")
    elif not all(isinstance(number, int) and is_number(number) and number >= 1 for number in (pp, m, size, dp)):
        said = Message("not-whole", "Micro-batches and samples come whole, at least 1 of each.")
    elif m * size * dp != batch:
        said = Message("other-batch", f"{m} x {size} x {dp} = {m * size * dp} samples. The others have {batch}.")
    elif pp != LESSON[-1].pp:
        said = Message("other-pp", f"The batch is right. But it was to keep its {LESSON[-1].pp} stages: then the table says what "
                       "more stages do.")
    else:
        said = Message("mended", f"{batch} samples, so its step can be compared with the others'. Its bubble is "
                       f"{float(PPConfig(pp, m, size, dp).bubble()):.1%}.", good=True)
    return Outcome((Step("mended", 1, said.good),), (said,))
