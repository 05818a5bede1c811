"""Notebook 6: the table that real runs produced: its rows, what is computed in it, what was measured, against a trusted run."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from statistics import median_low

from course.checks.experiment_rows import (
    COMPUTED,
    MEASURED,
    PARTED,
    holes,
    matches,
    missing_columns,
    named,
    read_table,
    same_run,
    variety,
)
from course.checks.outcome import Message, Outcome, Step, as_number, near, show_value, unreadable
from course.formulas import bubble_fraction, bubble_over_ideal
from course.plan_rules import read_plan

EXACT = 1e-6  # how far what is computed may be off: numbers that have been written and read again
ROUNDED = 0.006
TOGETHER = 1e-3  # how far bubble and step time of one measurement may be apart, of the step
EARLY = 0.01  # of the step: by so much a measurement may be shorter than its plan
ORDER = 0.1  # step times that differ by less, in parts of the longer, may stand in either order
LONGEST, MOST_BYTES = 1e6, 1e15  # seconds and bytes beyond which no cell is a measurement
SHOWN = 4  # messages of one kind


def check_table(table, configurations, trusted: Sequence[dict] | None = None) -> Outcome:
    """Points for the columns (1), a row for each configuration (1), what is computed (2), what was measured (1), and a row in
    which formula and measurement part (1); cut by the share of `variety` that its rows of the plan have.

    `trusted`: lines of a table that somebody else has run for these configurations.
    """
    value = configurations.value()
    plan = read_plan(value)
    lines = read_table(table.value(), list(plan.rows.values()))
    if isinstance(lines, Message):
        return Outcome(_steps(), (lines,))
    absent, complete = missing_columns(lines), [line for line in lines if line.complete]
    empty = {name for line in lines for name in holes(line)} | set(absent)
    strange = [_say("no-number", line, f"{name} {_in_cell(line.cells[name])}. Each cell but the schedule's is a number.")
               for line in lines for name in holes(line)]
    unplanned = unreadable(value, "configurations", "The table is compared with it.")
    rows, strangers = (0, [unplanned]) if unplanned else _compare_rows(lines, plan)
    slot = _slot(lines)
    swapped = _swapped(complete)
    computed, measured = swapped or _computed(lines, slot), swapped or _measured(complete, slot)
    if trusted is not None:
        held_against = read_table(list(trusted))
        measured += _against(complete, held_against)
        complete = [line for line in complete if isinstance(held_against, list) and any(
            other.row and same_run(line.row, other.row) for other in held_against)]
    messages = list(dict.fromkeys(message for said in (strangers, strange, computed, measured) for message in said[:SHOWN]))
    if absent:
        messages.insert(0, Message("missing-columns", f"`table` has no column {_few(absent)}: leave the columns as they came."))
    parting = not measured and any(line.row.parts and line.gap > PARTED for line in complete)
    if complete and not measured and not parting:
        messages.append(Message("nothing-parts", "There is no row in which the measured bubble is more than 1 point off the "
                                "estimate because an assumption of the formula does not hold. Give one of your configurations "
                                "`slow_stage` or `message`."))
    known, planned = all(line.row for line in lines), matches(lines, plan.rows)
    worth, tells_little = variety([line.row for line in lines if line.number in planned], "the table counts")
    messages += [tells_little] * (tells_little is not None and bool(planned))
    steps = [step._replace(share=step.share * worth) for step in _steps(
        not absent, rows, known and not computed and empty.isdisjoint(COMPUTED),
        known and not measured and empty.isdisjoint(MEASURED), parting)]
    if all(step.share == 1 for step in steps):
        messages.append(Message("table-right", f"{len(lines)} rows, each as it was run.", good=True))
    elif not messages:
        number = next((line.number for line in lines if not line.row), 1)
        messages.append(Message("not-runnable", f"What row {number} of `table` says of its configuration breaks a rule of "
                                "the plan, so it was never run like that: leave what run_experiment returned as it is."))
    if trusted is None and not measured:
        messages += _remarks(complete, plan)
    return Outcome(tuple(steps), tuple(messages))


def _remarks(lines, plan):
    """What costs no point: rows of a busy machine, times that nobody measured."""
    busy, found = [line for line in lines if line.busy], matches(lines, plan.rows)
    if busy:
        numbers = ", ".join(str(found.get(line.number, line.number)) for line in busy)
        yield Message("busy-machine", f"No point is lost by it, but {named(busy, SHOWN)} measured while the machine was busy: "
                      f"measure anew with again=[{numbers}] in the call of run_experiment.", good=True)
    if lines and all(near(line.get("step_time_measured"), _predicted(line), EXACT * abs(_predicted(line))) for line in lines):
        yield Message("follows-the-plan", "No point is lost by it, but these times follow the plan, to the last digit, as "
                      "they do where a notebook is graded: for measured ones call run_experiment without `clock`.", good=True)


def _in_cell(value):
    return "is empty" if value is None else f"is {show_value(value)}"


def _steps(columns=False, rows=0, computed=False, measured=False, parting=False):
    return (Step("the columns", 1, columns), Step("a row for each configuration", 1, rows),
            Step("what is computed", 2, computed), Step("what was measured", 1, measured),
            Step("a row in which formula and measurement part", 1, parting))


def _compare_rows(lines, plan):
    """(share of the configurations that have their row, less what is no configuration; messages)."""
    messages, found = [], matches(lines, plan.rows)
    wanted = {number: row for number, row in plan.rows.items() if number not in found.values()}
    if not plan.rows:
        messages.append(Message("no-plan", f"`configurations` cannot be compared with the table. {plan.problems[0]}"))
    messages += [Message("other-row", f"`table`, row {line.number} is none of your configurations, or one of them twice: run the "
                         "table again after you have changed them.")
                 for line in lines if line.number not in found and (wanted or line.row)]
    messages += [Message("row-missing", f"Row {number} of `configurations` ({row.label}) is not in the table: run it again; what "
                         "is finished is kept.") for number, row in wanted.items()]
    earned = len(found) - sum(message.code == "other-row" for message in messages)
    return Fraction(max(0, earned), max(1, plan.count)), messages


def _swapped(lines):
    """The message where two columns stand under each other's name: in each line what is measured is what should be computed."""
    parted = any(line.planned.gap > PARTED for line in lines)  # no run of such a row can idle as little as the estimate
    pairs = (("bubble_estimated", "bubble_measured", lambda row: row.bubble_estimated, False, parted),
             ("step_time_predicted", "step_time_measured", lambda row: row.simulated().makespan, True, False))

    def agree(column, planned, scaled):
        factor = _slot(lines, column) if scaled else 1
        return sum(near(line.get(column), float(planned(line.row)) * factor, EXACT * factor) for line in lines)

    return [Message("swapped", f"`table`: {measured} is in each row what {computed} should be. The two columns have changed "
                    "places: run the table again, or swap them.") for computed, measured, planned, scaled, sure in pairs
            if len(lines) > 1 and agree(measured, planned, scaled) == len(lines) > agree(computed, planned, scaled) * (2 - sure)]


def _slot(lines, column="step_time_predicted"):
    """Seconds of the slot that most lines agree on, by a column of step times."""
    slots = [line.get(column) / float(line.row.simulated().makespan) for line in lines if line.row and line.get(column)]
    return median_low(slots) if slots else 0


def _predicted(line):
    return line.get("step_time_predicted")


def _computed(lines, slot):
    """What is wrong in the columns that follow from the configuration alone."""
    messages = []
    for line in lines:
        batch, estimate, predicted = (line.get(name) for name in COMPUTED)
        if line.row and batch not in (None, line.row.global_batch):
            messages.append(_say("global-batch", line, f"global_batch is {_number(line, 'global_batch')}; it is micro_batches x "
                                 "micro_batch_size x dp."))
        if line.row and estimate is not None and not near(estimate, line.row.bubble_estimated, EXACT):
            messages.append(_wrong_estimate(line))
        if line.row and predicted is not None and not near(predicted, _planned(line, slot), EXACT * abs(_planned(line, slot))):
            messages.append(_wrong_prediction(line, _planned(line, slot)))
    return messages


def _wrong_prediction(line, planned):
    said = f"step_time_predicted is {_number(line, 'step_time_predicted')} s"
    if near(_predicted(line), planned, ROUNDED * abs(planned)):
        return _say("rounded", line, f"{said}. It was rounded, or changed a little: keep all digits, and round what you show.")
    return _say("predicted", line, f"{said}. With the slot of the other rows the simulated step takes another time.")


def _planned(line, slot):
    return float(line.row.simulated().makespan) * slot


def _wrong_estimate(line):
    row, found = line.row, line.get("bubble_estimated")
    said = f"bubble_estimated is {_number(line, 'bubble_estimated')}"
    if near(found, row.bubble_estimated, ROUNDED):
        return _say("rounded", line, f"{said}. It was rounded, or changed a little: keep all digits, and round what you show.")
    if near(found, bubble_over_ideal(row.pp, row.micro_batches, row.chunks), EXACT):
        return _say("over-ideal", line, f"{said}: that is idle over ideal time. The column is over total.")
    if near(found, 100 * row.bubble_estimated, 1):
        return _say("percent", line, f"{said}, in percent. The column holds fractions.")
    if row.chunks > 1 and near(found, bubble_fraction(row.pp, row.micro_batches), EXACT):
        return _say("forgets-chunks", line, f"{said}: that is the bubble without chunks.")
    return _say("estimate", line, f"{said}: not what the closed formula gives for its pp, micro_batches and chunks.")


def _measured(lines, slot):
    """What no measurement can be: out of range, shorter than its plan, numbers that are not of one run."""
    messages = [message for line in lines if (message := _impossible(line, slot))]
    for one, other in itertools.combinations(lines, 2):
        if same_run(one.row, other.row, conditions=False) and (
                one.get("peak_activation_bytes") != other.get("peak_activation_bytes")):
            messages.append(_say("peaks-differ", one, f"and row {other.number}: one schedule with the same sizes holds the same "
                                 "activations, however slow a stage or a link is. Their peaks differ."))
    return messages


def _impossible(line, slot):
    bubble, peak, step = (line.get(name) for name in MEASURED)
    if not 0 <= bubble < 1:
        return _odd(line, "bubble_measured", "a fraction from 0 to 1 is possible")
    if not 0 < step < LONGEST:
        return _odd(line, "step_time_measured", "in seconds, and above 0")
    if not 1 <= peak < MOST_BYTES or peak != int(peak):
        return _odd(line, "peak_activation_bytes", "bytes are counted: a whole number above 0")
    if step < (1 - EARLY) * _planned(line, slot):
        return _odd(line, "step_time_measured", "no step ends before its plan: a device takes its time")
    if bubble < line.row.simulated().bubble_fraction - EARLY:
        return _odd(line, "bubble_measured", "no run idles less than its plan: in this order the others have to wait")
    beside = step - float(line.row.simulated().work) * slot / (line.row.pp * float(1 - bubble))  # the replicas' all-reduce
    if beside < -TOGETHER * step or (line.row.dp == 1 and beside > TOGETHER * step):
        return _say("not-together", line, f"bubble_measured {_number(line, 'bubble_measured')} and step_time_measured "
                    f"{_number(line, 'step_time_measured')} cannot be from one run.")
    return None


def _against(lines, trusted):
    """What a trusted run of the same configurations contradicts: the bytes held, and which of two steps is clearly shorter."""
    if isinstance(trusted, Message):
        return [trusted]
    pairs = [(line, other) for line in lines for other in trusted if other.row and same_run(line.row, other.row)]
    messages = [_say("trusted-peak", line, f"peak_activation_bytes is {_number(line, 'peak_activation_bytes')}. When it is run "
                     "again it holds another number.")
                for line, other in pairs if line.get("peak_activation_bytes") != other.get("peak_activation_bytes")]
    for (one, first), (two, second) in itertools.combinations(pairs, 2):
        mine, theirs = ([line.get("step_time_measured") for line in pair] for pair in ((one, two), (first, second)))
        if abs(theirs[0] - theirs[1]) > ORDER * max(theirs) and (mine[0] < mine[1]) != (theirs[0] < theirs[1]):
            messages.append(_say("trusted-order", one, f"and row {two.number}: when they are run again the other one has the "
                                 "shorter step."))
    return messages


def _say(code, line, text):
    return Message(code, f"`table`, row {line.number}{f' ({line.row.label})' if line.row else ''}: {text}")


def _odd(line, column, rule):
    return _say("out-of-range", line, f"{column} is {_number(line, column)}; {rule}.")


def _number(line, column):
    number = as_number(line.cells[column])
    return show_value(line.cells[column]) if number is None else f"{float(number):.6g}"


def _few(names):
    return ", ".join(names) if len(names) < 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
