"""Notebook 6: conclusions from a table; what is right follows from its rows, simulated, and its bytes: noise has no say in it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from course.answers import UNANSWERED
from course.checks.claims import WORDS
from course.checks.experiment_rows import Line, different, matches, named, read_table, same_run, variety
from course.checks.experiment_statements import CONCLUSIONS, NOISE, REASONS
from course.checks.outcome import Message, Outcome, Step, as_number, one_row, remarks, show_value, unreadable
from course.plan_rules import read_plan

WANTED = 'It is a dict such as {"a": 2, ..., "f": "noise", "g": False}, with the letters of the statements.'
ABOUT = "The conclusions are about its rows."
BUSY = "busy-machine"
SHOWN = 3  # rows that a sentence names
FROM_ZERO = 3  # rows that must be right when counted from 0, where none is 0: of fewer, each may be the row beside the right one


class Table(NamedTuple):
    """The rows of the plan that the table holds, as measured and as planned; the plan's number of each by the line's."""

    lines: list[Line]
    planned: list[Line]
    numbers: dict[int, int]

    @property
    def noise(self) -> str:
        """Which rows were measured on a busy machine, and how to mend that; empty where none was."""
        busy = [line for line in self.lines if line.busy]
        if not busy:
            return ""
        again = ", ".join(str(self.numbers[line.number]) for line in busy)
        return (f"{named(busy, SHOWN)} measured while the machine was busy. Measure anew, with again=[{again}] in the call of "
                "run_experiment; when it is graded your plan is run without such noise.")


def check_conclusions(conclusions, table, configurations, trusted: Sequence[dict] | None = None) -> Outcome:
    """A point for each row that is named and for the reason, half a point for each statement that is called true or false.

    Where only some of the rows are those of the plan, or rows of the plan are missing, the points are cut by that share; and by
    the share of `variety` that they have. `trusted`: lines of a table that somebody else has run for these configurations. The
    conclusions are then about these, and a row of `table` that holds other bytes is no row of it.
    """
    given = _read(one_row(conclusions.value()))
    if isinstance(given, Message):
        return Outcome(_steps({}), (given,))
    value = configurations.value()
    plan = read_plan(value)
    lines = read_table(table.value(), list(plan.rows.values()))
    usable = [] if isinstance(lines, Message) else list(filter(_is_sound, lines))
    if not usable:
        return Outcome(_steps({}), (Message("no-table", "The conclusions are drawn from `table`, which has no complete row yet. "
                                            f"{lines.text if isinstance(lines, Message) else ''}".strip()),))
    mine = [line for line in usable if line.number in matches(usable, plan.rows)]
    planned, forged = _held_against(mine, trusted)
    found = matches(planned, plan.rows)
    trouble = unreadable(value, "configurations", ABOUT) or _too_little(found, plan, forged)
    if trouble:
        return Outcome(_steps({}), (trouble,))
    held = Table([line for line in mine if line.number in found], planned, found)
    worth, tells_little = variety([line.row for line in planned], "the conclusions count")
    rows = max(plan.count, len(lines))
    part, cut = worth * Fraction(len(planned), rows), f"Until then the conclusions count for {len(planned)} of {rows} rows."
    answers, said = _in_the_tables_numbers(given, held)
    messages = [message for message in (said, tells_little, forged) if message]
    messages += _not_all(found, plan, lines, cut)
    shares = {}
    for key in CONCLUSIONS:
        message = _judge(key, given.get(key), answers, held)
        if message.code == BUSY and any(earlier.code == BUSY for earlier in messages):
            said = message.text.partition(". ")[0]
            message = message._replace(text=f"{said}, for the same reason: these rows of a busy machine.")
        shares[key] = message.good * part
        messages.append(message)
    extra = sorted(set(given) - set(CONCLUSIONS))
    steps = _steps(shares)
    if extra:
        messages += remarks([Message("unknown-key", f"There is no statement {extra[0]!r}: the letters are "
                                     f"{', '.join(CONCLUSIONS)}.")], steps)
    return Outcome(steps, tuple(messages))


def _is_sound(line):
    return line.complete and 0 <= line.get("bubble_measured") < 1 and min(
        line.get("step_time_measured"), line.get("step_time_predicted")) > 0


def _held_against(lines, trusted):
    """(the lines as a run without noise gives them, by the trusted ones where there are some; the message on those that hold
    other bytes than these, which are left out)."""
    if trusted is None:
        return [line.planned for line in lines], None
    found = read_table(list(trusted))
    runs = {line.row: line for line in found if line.complete} if isinstance(found, list) else {}
    alike, others = [], []
    for line in lines:
        run = next((run for row, run in runs.items() if same_run(row, line.row)), None)
        if run and run.get("peak_activation_bytes") == line.get("peak_activation_bytes"):
            alike.append(line._replace(cells=run.cells).planned)
        else:
            others.append(line)
    if not others:
        return alike, None
    names = ", ".join(line.name for line in others[:SHOWN]) + f" and {len(others) - SHOWN} more" * (len(others) > SHOWN)
    return alike, Message("trusted-peak", f"In `table`, {names}: peak_activation_bytes is not what the same row holds when it is "
                          "run again. No conclusion is drawn from that: keep the table as it came from `run_experiment`.")


def _too_little(found, plan, forged):
    """The message where there is nothing to compare."""
    if not plan.rows:
        return Message("no-plan", f"`configurations`: {plan.problems[0]} {ABOUT}")
    if forged and len(found) < 2:
        return forged
    if not found:
        return Message("not-your-table", "No row of `table` is one of your `configurations`. The conclusions are about these: "
                       "run them, and keep what comes back as `table`.")
    if len(different([plan.rows[number] for number in found.values()])) == 1:
        return Message("one-row", "`table` has only one row of your `configurations`, or one several times: conclusions compare, "
                       "so it takes more.")
    return None


def _not_all(found, plan, lines, cut):
    """What the table has not of the plan, or has besides it."""
    missing = [number for number in range(1, plan.count + 1) if number not in found.values()]
    if missing:
        names = [f"row {number}{f' ({plan.rows[number].label})' if number in plan.rows else ''}" for number in missing[:SHOWN]]
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        yield Message("row-missing", f"Of your `configurations` {', '.join(names)}{more} cannot be used in `table`: run them "
                      f"again; what is finished is kept. {cut}")
    elif len(lines) > len(found):
        strange = next(line.number for line in lines if line.number not in found)
        yield Message("other-row", f"Row {strange} of `table` is none of your `configurations`, or one of them twice: take it "
                      f"out. {cut}")


def _steps(shares):
    return tuple(Step(f"conclusion {key}", statement.points, shares.get(key, False)) for key, statement in CONCLUSIONS.items())


def _read(value):
    """The answers by their letters; the message where there are none."""
    if isinstance(value, dict) and set(map(str, value.values())) <= {UNANSWERED, "None"}:
        value = None
    trouble = unreadable(value, "conclusions", WANTED)
    if not trouble and isinstance(value, list) and len(value) == len(CONCLUSIONS):
        value = dict(zip(CONCLUSIONS, value, strict=True))
    if not trouble and not isinstance(value, dict):
        trouble = Message("not-a-dict", f"`conclusions`: found {show_value(value)}. {WANTED}")
    return trouble or {str(key).strip().lower().rstrip(")."): item for key, item in value.items()}


def _in_the_tables_numbers(given, held):
    """What each answer means, and a word on it: rows that are counted from 0, or as they stood before the table was sorted."""
    read = {key: _meaning(statement.kind, given.get(key)) for key, statement in CONCLUSIONS.items()}
    rows = [key for key, statement in CONCLUSIONS.items() if statement.kind == "row" and read[key] is not None]
    right = {key: CONCLUSIONS[key].right(held.planned) for key in rows}

    def moved(places):
        answers = {key: places(read[key]) for key in rows}
        return answers, sum(answers[key] in right[key] for key in rows)

    _, usual = moved(lambda number: number)
    from_zero, earned = moved(lambda number: number + 1)
    counts_from_zero = 0 in read.values() or (len(rows) >= FROM_ZERO and earned - usual >= 2)
    if counts_from_zero and earned == len(rows) > usual:
        return read | from_zero, Message("counted-from-zero", "You count rows from 0, the table from 1: understood.", good=True)
    earlier = {number: line for line, number in held.numbers.items()}
    as_planned, earned = moved(lambda number: earlier.get(number, number))
    if list(held.numbers.values()) != sorted(held.numbers.values()) and earned > usual:
        return read | as_planned, Message("counted-as-planned", "`table` is in another order than `configurations`; you call its "
                                          "rows by the numbers that they have there: understood.", good=True)
    return read, None


def _meaning(kind, value):
    """A row's number, a reason, True or False; None where the value is none of its kind."""
    if kind == "row":
        number = as_number(value.lower().replace("row", "")) if isinstance(value, str) else as_number(value)
        return int(number) if number is not None and number == int(number) else None
    if isinstance(value, str) and kind == "reason":
        word = " ".join(value.lower().replace("_", " ").split()).rstrip(".")
        return next((reason for reason, names in REASONS.items() if word in (reason, *names)), None)
    if isinstance(value, str) and kind == "verdict":
        return WORDS.get(value.strip().lower())
    is_verdict = kind == "verdict" and isinstance(value, bool | int | float) and value in (0, 1)
    return bool(value) if is_verdict else None


def _judge(key, value, answers, held):
    statement, answer = CONCLUSIONS[key], answers[key]
    if value is None or value == UNANSWERED:
        return Message("unanswered", f"Conclusion {key} is not drawn yet.")
    if answer is None:
        wanted = {"row": "the number of a row of the table", "reason": f"one of {', '.join(map(repr, REASONS))}",
                  "verdict": "True or False"}[statement.kind]
        return Message(f"not-a-{statement.kind}", f"Conclusion {key}: {wanted} is asked for, found {show_value(value)}.")
    if statement.kind == "row" and answer not in held.numbers:
        return Message("no-such-row", f"Conclusion {key}: the table has no complete row {show_value(value)}; its rows are "
                       f"counted from 1 to {max(held.numbers)}.")
    right = _right(statement, held.planned, answers)
    said = f"Conclusion {key}: not {_say(statement, answer)}"
    if not right:
        return Message("cannot-answer", f"Conclusion {key}: your table cannot answer it, because it {statement.needs}.")
    if answer in right:
        return Message("conclusion-right", f"Conclusion {key}: {_say(statement, answer)} is right.", good=True)
    if key == "f" and answers["e"] not in CONCLUSIONS["e"].right(held.planned):
        line = next((line for line in held.lines if line.number == answers["e"] and line.busy), None)
        why = f" Row {line.number} is off because the machine was busy ({line.busy}), and f is not asked of that." if line else ""
        return Message("row-first", f"{said}.{why} Find the row of e first: why is that one off?")
    if answer == NOISE:
        return Message(statement.code, f"{said}, however busy the machine was: {statement.why}")
    if held.noise and answer in _right(statement, held.lines, answers):
        return Message(BUSY, f"{said}. Your table says so because {held.noise}")
    return Message(statement.code, f"{said}; {statement.why}")


def _right(statement, lines, answers):
    return statement.right(lines, answers["e"]) if statement.kind == "reason" else statement.right(lines)


def _say(statement, answer):
    return {"row": f"row {answer}", "reason": f'"{answer}"', "verdict": str(answer).lower()}[statement.kind]
