"""The experiment table as a submission holds it: what only a run can show is run by our side, however the table is written."""

from fractions import Fraction

import pytest

from autograder import judging, questions, trusted_runs
from autograder.intake import Cell
from autograder.trusted_runs import NotRun, TrustedRuns
from course.answers import LocalAnswer
from course.checks.experiment_conclusions import check_conclusions
from course.checks.experiment_rows import CHOSEN
from course.plan import DEFAULT
from tests.asked import NoRuns, marks, own
from tests.bank_6_conclusions import TRUE
from tests.experiment_lines import PLAN, made, noisy

PLANNED = Cell("ex6-plan-answer", f"configurations = {PLAN!r}")
TABLE = Cell("ex6-table-answer", "from course.experiments import run_experiment\ntable = run_experiment(configurations)")


def table(*cells, runs):
    return marks(*cells, notebook="6_experiment_table", runs=runs)["ex6-table"]


def test_rows_that_a_cell_asks_for_are_run_outside_and_given():
    runs = NoRuns()
    found = table(PLANNED, TABLE, runs=runs)
    assert found.points == 6, found
    assert [len(rows) for rows in runs.asked] == [len(PLAN), len(PLAN)], "for the cell, and for the check"


def test_a_table_that_is_typed_is_held_against_our_run():
    typed = made(PLAN)
    typed[0]["peak_activation_bytes"] += 64
    found = table(PLANNED, Cell("ex6-table-answer", f"table = {typed!r}"), runs=NoRuns())
    assert found.points < 6 and "trusted-peak" in {message.code for message in found.messages}
    assert table(PLANNED, Cell("ex6-table-answer", f"table = {made(PLAN)!r}"), runs=NoRuns()).points == 6


def test_a_table_that_is_read_from_a_file_is_told_what_to_do():
    read = Cell("ex6-table-answer", "import pandas\ntable = pandas.read_csv('experiment_table.csv')")
    found = table(PLANNED, read, runs=NoRuns())
    assert found.points == 0 and "FileNotFoundError" in found.notes[0]
    assert "keep what run_experiment returned" in found.notes[1]
    assert not table(PLANNED, Cell("ex6-table-answer", "table = 1 / 0"), runs=NoRuns()).notes[1:]


DEFAULT_PLAN = Cell("ex6-plan-answer", f"configurations = {[row.as_dict() for row in DEFAULT]!r}")
DRAWN = "conclusions = {" + ", ".join(f"{key!r}: {value}" for key, value in TRUE.items()) + "}"


def experiment(*cells, runs=None):
    return marks(*cells, notebook="6_experiment_table", runs=runs or NoRuns())


def concluded(source, table=TABLE, plan=DEFAULT_PLAN):
    return experiment(plan, table, Cell("ex6-conclusions-answer", source))["ex6-conclusions"]


def test_conclusions_are_drawn_from_rows_that_our_side_has_run():
    runs = NoRuns()
    found = experiment(DEFAULT_PLAN, TABLE, Cell("ex6-conclusions-answer", DRAWN), runs=runs)
    assert {mark.points for grade_id, mark in found.items() if grade_id.startswith("ex6")} == {6, 8}
    assert all(set(rows) == set(DEFAULT) for rows in runs.asked), "no row beside the plan's"
    busy = Cell("ex6-table-answer", f"table = {noisy({4: 0.5})!r}")
    assert concluded(DRAWN, table=busy).points == 8, "what noise says has no say, and costs nothing"


def test_bytes_that_the_run_does_not_show_lead_to_no_conclusion():
    tempting = DRAWN.replace("'b': 2", "'b': 4").replace("'i': False", "'i': True")
    honest = concluded(tempting)
    forged = concluded(f'table["peak_activation_bytes"] = [10**6 * m for m in table["micro_batches"]]\n{tempting}')
    assert honest.points == 6.5 and forged.points == 0 and forged.messages[0].code == "trusted-peak"
    one = concluded(f'table.loc[8, "peak_activation_bytes"] += 64\n{DRAWN}')
    assert {"trusted-peak", "row-missing"} <= {message.code for message in one.messages}
    assert one.points == (8 - 2) * 7 / 8, "e and f were about the row that is left out"


def test_typed_rows_that_were_never_run_lead_to_no_conclusion():
    typed = [line | {"peak_activation_bytes": 1} for line in made(PLAN[:1] * 2)]
    drawn = "conclusions = dict(a=1, b=1, c=1, d=1, e=1, f='noise', g=True, h=True, i=True, j=True)"
    found = concluded(f"configurations = {PLAN[:1] * 2!r}\ntable = {typed!r}\n{drawn}", own("1"), own("2"))
    assert found.points == 0


def test_a_plan_of_equal_rows_earns_no_conclusion_and_little_of_the_table():
    again = Cell("ex6-table-answer", "from course.experiments import run_experiment\n"
                 f"configurations = {[DEFAULT[7].as_dict()] * 2!r}\ntable = run_experiment(configurations)")
    drawn = "conclusions = dict(a=1, b=1, c=2, d=2, e=1, f='slow stage', g=True, h=True, i=True, j=True)"
    found = experiment(DEFAULT_PLAN, again, Cell("ex6-conclusions-answer", drawn))
    assert [found[part].points for part in ("ex6-plan", "ex6-table", "ex6-conclusions")] == [6, pytest.approx(6 / 5), 0]
    assert "tells-little" in {message.code for message in found["ex6-table"].messages}


@pytest.mark.parametrize("rows", [DEFAULT, DEFAULT[:1], DEFAULT[:3], DEFAULT[5:], DEFAULT[6:] * 2])
def test_with_our_run_an_honest_table_gets_what_it_gets_in_the_notebook(rows):
    drawn = dict(zip(TRUE, (1, 2, 1, 1, 3, "slow stage", True, True, False, True), strict=True))
    answers = [LocalAnswer(value) for value in (drawn, made(rows), [row.as_dict() for row in rows])]
    here, there = check_conclusions(*answers), check_conclusions(*answers, made(rows, slot=0.001))
    assert here == there


def as_columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("written", [list, as_columns, lambda rows: dict(enumerate(rows))], ids=["rows", "columns", "by number"])
def test_however_a_table_is_typed_it_is_held_against_our_run(written):
    typed = made(PLAN)
    for row in typed:
        row["peak_activation_bytes"] += 64
    runs = NoRuns()
    found = table(PLANNED, Cell("ex6-table-answer", f"table = {written(typed)!r}"), runs=runs)
    assert found.points == 6 - 2 - 4 * (written not in (list, as_columns)) and runs.asked


@pytest.mark.parametrize("plan", [dict(enumerate(PLAN)), [[row[name] for name in CHOSEN] for row in PLAN if len(row) == 6]],
                         ids=["by number", "without names"])
def test_however_a_plan_is_written_its_rows_are_run(plan):
    runs = NoRuns()
    lines = [line for line in made(PLAN) if len(plan) == len(PLAN) or not {"slow_stage", "message"} & set(line)]
    table(Cell("ex6-plan-answer", f"configurations = {plan!r}"), Cell("ex6-table-answer", f"table = {lines!r}"), runs=runs)
    assert len(runs.asked[0]) == len(plan)


class Changing:
    """An answer that says something else each time it is asked."""

    def __init__(self, *values):
        self._values = list(values)

    def value(self):
        return self._values.pop(0)


def test_who_says_another_plan_when_asked_again_is_not_asked_again():
    typed, runs = made(PLAN), NoRuns()
    for row in typed:
        row["peak_activation_bytes"] += 64
    found = judging.judged("ex6-table", [Changing(typed, typed), Changing(PLAN[:1], PLAN)], runs.lines)
    assert len(runs.asked[0]) == 1 and found.points < 4


def test_where_our_side_cannot_run_them_there_is_no_mark_and_no_second_try():
    runs = NoRuns("no memory")
    found = table(PLANNED, TABLE, Cell("ex6-table-answer", f"table = {made(PLAN)!r}"), runs=runs)
    assert found.points is None and "not graded: its rows could not be run (no memory)" in found.notes[-1]
    assert len(runs.asked) == 1


def test_where_our_side_cannot_run_them_nothing_that_needs_them_is_a_zero():
    """The answer's own cell got no table either, so what is asked of it says nothing."""
    found = experiment(DEFAULT_PLAN, TABLE, Cell("ex6-conclusions-answer", DRAWN), runs=NoRuns("its time was used up"))
    assert [found[part].points for part in ("ex6-plan", "ex6-table", "ex6-conclusions")] == [6, None, None]
    for part in ("ex6-table", "ex6-conclusions"):
        assert "its time was used up" in found[part].notes[-1] and "grade this submission again" in found[part].notes[-1]


def test_where_what_it_asks_for_cannot_be_read_by_us_it_is_no_zero(monkeypatch):
    monkeypatch.setattr(judging, "_rows_in", lambda value: 1 / 0)
    found = experiment(DEFAULT_PLAN, TABLE)
    assert [found[part].points for part in ("ex6-plan", "ex6-table")] == [6, None]


def test_a_plan_of_more_rows_than_are_run_is_its_own_fault():
    many = [row | {"micro_batch_size": 32 // row["micro_batches"], "slow_stage": 1 + n / 10, "dp": 1, "layers": 16}
            for row in PLAN[:3] for n in range(questions.MOST // 3 + 1)]
    found = experiment(Cell("ex6-plan-answer", f"configurations = {many!r}"), Cell("ex6-table-answer", f"table = {made(many)!r}"))
    assert found["ex6-table"].points == 0 and "27 different rows, and 24 are run" in found["ex6-table"].notes[-1]


def test_a_submission_cannot_have_us_run_without_end():
    runs = NoRuns()
    many = own("from course.experiments import run_experiment\n" + "\n".join(
        f"run_experiment([dict(schedule='1f1b', pp=2, chunks=1, micro_batches={m}, micro_batch_size={b}, dp=1)])"
        for m in range(1, 9) for b in range(1, 9)))
    found = table(PLANNED, many, TABLE, runs=runs)
    assert all(len(rows) <= questions.MOST for rows in runs.asked)
    assert found.points == 6, "what was tried besides costs the plan's rows nothing"


def test_our_own_process_runs_rows_once_and_ends():
    with TrustedRuns() as runs:
        first = runs.lines([DEFAULT[0], DEFAULT[0]])
        process = runs._process
        again = runs.lines([DEFAULT[0]])
        assert first[0] == first[1] == again[0] and first[0]["peak_activation_bytes"] > 0
        assert Fraction(first[0]["bubble_measured"]).limit_denominator(100) == DEFAULT[0].bubble_estimated
        with pytest.raises(NotRun, match="time was used up"):
            runs.lines([DEFAULT[1]], seconds=0)
        assert process.ended
    with pytest.raises(NotRun, match="stopped"):
        runs.lines([DEFAULT[2]])


def test_the_seconds_of_our_rows_are_for_all_cells_of_a_submission_together(monkeypatch):
    now, given = [0.0], []

    def ask(runs, row, seconds):
        given.append(seconds)
        now[0] += min(seconds, 40)
        if seconds < 40:
            raise NotRun("its time was used up")
        return {"label": row.label}

    monkeypatch.setattr(trusted_runs.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(TrustedRuns, "_ask", ask)
    with TrustedRuns() as runs:
        one, other = runs.for_submission(100), runs.for_submission(100)
        assert [one.lines([row]) == [{"label": row.label}] for row in DEFAULT[:2]] == [True, True]
        with pytest.raises(NotRun):
            one.lines([DEFAULT[2]])
        assert one.lines(DEFAULT[:2]) and other.lines(DEFAULT[1:3]), "what was run costs nothing, and others have their own time"
    assert given == [100, 60, 20, 100]
