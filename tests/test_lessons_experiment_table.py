"""What notebook 6 shows of a table, and the numbers that stand in its text."""

from fractions import Fraction
from pathlib import Path

import pandas
import pytest

from course.checks.experiment_plan import LESSON
from course.formulas import PPConfig, bubble_fraction
from course.lessons import experiment_table as lesson
from course.plan import COLUMNS, CONDITIONS, DEFAULT, EACH, FIXED, LAYERS, Row
from course.view import View
from tests.experiment_lines import made, noisy
from tools.sources import read_cells

ROOT = Path(__file__).resolve().parent.parent
CELLS = read_cells(ROOT / "solutions/pipeline_parallelism/6_experiment_table.py")
TEXT = " ".join(" ".join(cell.source for cell in CELLS if cell.kind == "markdown").split())
VIEWS = (lesson.show_table, lesson.bubbles, lesson.steps_over_m, lesson.markdown)


def frame(rows=DEFAULT):
    found = pandas.DataFrame(made(rows), index=range(1, len(rows) + 1))
    found.attrs = {"slot_seconds": 0.002, "pacing": {"clock": "paced"}, "machine": {"cores": 2, "system": "Linux"}}
    return found


def rows_of(view):
    return [line.split() for line in repr(view).splitlines() if line.split() and line.split()[0].isdecimal()]


def test_the_table_for_reading():
    view = lesson.show_table(frame())
    rows = rows_of(view)
    assert len(rows) == 8 and rows[1] == ["2", "gpipe", "4", "1", "8", "4", "1", "27.3%", "27.3%", "4.10", "MB", "2,904", "ms",
                                          "2,904", "ms"]
    assert rows[7][-4:] == ["slow", "stage,", "x", "2"]
    assert "one unit is 2.00 ms" in repr(view) and "Clock: paced. Machine: 2 cores" in repr(view) and "32 samples" in repr(view)
    assert lesson.PECULIAR not in repr(lesson.show_table(frame(DEFAULT[:3])))
    odd = repr(lesson.show_table(made([Row("1f1b", 4, 1, 8, 4, slow_stage=1.5, message=40), Row("looped_bfs", 4, 2, 2, 16)])))
    assert "slow stage, x 1.5, messages of 40 units" in odd and "m < pp" in odd and "one unit" not in odd


def test_estimate_and_measurement_of_each_row_in_one_figure():
    view = lesson.bubbles(frame())
    measured, estimated = (line.split()[-8:] for line in repr(view).splitlines()[-2:])
    assert [one == two for one, two in zip(measured, estimated, strict=True)] == [True] * 7 + [False]
    assert view.html.count("<svg") >= 1


@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_a_busy_machine_are_marked_wherever_they_are_shown(view):
    said = "row 4 (bubble 58.6% where its plan gives 8.6%) was measured while the machine was busy."
    quiet, busy = frame(), frame()
    busy[:] = pandas.DataFrame(noisy({4: 0.5}))
    assert said in repr(view(busy)) and "busy" not in repr(view(quiet))
    assert said in view(busy).html


def test_the_sign_of_a_busy_row_stands_at_its_number():
    table = noisy({4: 0.5, 6: 0.02})
    assert [row[0] for row in (line.split() for line in repr(lesson.show_table(table)).splitlines()[1:9])] == [
        "1", "2", "3", "4*", "5", "6*", "7", "8"]
    assert lesson.busy([]) == "" and "| 4* |" in repr(lesson.markdown(table))
    lines = repr(lesson.bubbles(table)).splitlines()
    measured, marked = (next(line for line in lines if line.startswith(name)).split()[-8:] for name in (
        "measured  ", "measured, machine busy *"))
    assert [one == "-" for one in measured] == [two != "-" for two in marked] == [number in (4, 6) for number in range(1, 9)]


def test_a_curve_joins_rows_that_differ_in_their_micro_batches_only():
    text = repr(lesson.steps_over_m(frame()))
    assert next(line for line in text.splitlines() if line.startswith("1f1b, 4 ranks  ")).split()[-3:] == ["-", "2904", "4200"]
    assert len(text.splitlines()) == 2 + 7 and "1f1b, 4 ranks, slow stage" in text and "1f1b, 4 ranks, dp 2" in text


def test_markdown_has_the_columns_of_the_table_and_its_conditions():
    lines = repr(lesson.markdown(frame())).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:10]]
    assert cells[0] == ["row", *COLUMNS, lesson.PECULIAR] and {len(row) for row in cells} == {14} and set(cells[1]) == {"---"}
    assert lines[-1].startswith("Emulated devices")
    table = frame()
    table.attrs["versions"] = {"python": "3.12.1", "torch": "2.13"}
    assert repr(lesson.markdown(table)).splitlines()[-1] == "Versions: python 3.12.1, torch 2.13."


@pytest.mark.parametrize("odd", [..., None, [], 3, "x", {}, lambda: 1, [{"pp": 1}], pandas.DataFrame(), made()[0]])
def test_what_is_no_table_is_said(odd):
    for view in VIEWS:
        shown = view(odd)
        assert isinstance(shown, View) and 10 < len(repr(shown)) < 300 and "Traceback" not in repr(shown)
    assert lesson.shortest(odd) is ...


def test_the_row_with_the_shortest_step():
    assert lesson.shortest(frame()) == 7 and lesson.shortest(made(), "micro_batches") == 4
    assert lesson.shortest(made([Row("1f1b", 2, 1, 8, 4), Row("1f1b", 2, 1, 32, 1)]), "micro_batches") == 8


def test_the_blank_record_has_every_column_with_room_for_eight_rows():
    text = repr(lesson.blank_record())
    for name in COLUMNS:
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        assert line.split()[-8:] == ["_" * 8] * 8
    assert max(map(len, text.splitlines())) < 125 and "why" in text
    for name in ("slow_stage (times)", "message (units)"):
        assert next(line for line in text.splitlines() if line.startswith(name)).split()[-8:] == ["_" * 8] * 8
    assert all(word in text for word in ("layers", "versions: python", "torch", "slot (ms)", "clock"))


def test_every_column_is_explained_in_the_text():
    rows = [cell.source for cell in CELLS if "What each column means" in cell.source]
    assert len(rows) == 1 and all(f"`{name}`" in rows[0] for name in (*COLUMNS, *CONDITIONS))


def test_the_configurations_of_the_lesson_are_shown_with_batch_and_bubble():
    rows = rows_of(lesson.batches(*LESSON))
    assert [row[4] for row in rows] == ["32", "32", "32", "64"]
    assert [row[5] for row in rows] == ["11.1%", "27.3%", "8.6%", "9.9%"]
    setup = next(cell.source for cell in CELLS if cell.grade_id == "ex6-setup")
    assert all(f"PPConfig({one.pp}, {one.micro_batches}, {one.micro_batch_size})" in setup for one in LESSON)
    assert "Practice: right" in repr(lesson.mended(PPConfig(8, 32, 1)))
    assert "not there yet" in repr(lesson.mended(PPConfig(8, 64, 1)))


def test_the_numbers_in_the_text():
    assert bubble_fraction(2, 8) == Fraction(1, 9) and bubble_fraction(2, 32) == Fraction(1, 33) and "1/9 and 1/33" in TEXT
    few, many = Row("1f1b", 2, 1, 8, 4), Row("1f1b", 2, 1, 32, 1)
    assert few.simulated().makespan < many.simulated().makespan and few.bubble_estimated > many.bubble_estimated
    assert few.simulated().peak_activations == many.simulated().peak_activations, "a quarter of the samples, so of the bytes"
    assert f"{FIXED}, and {EACH} for each sample" in TEXT and f"transformer of {LAYERS} layers" in TEXT
    assert "takes 3 + 2 = 5 units" in TEXT and "takes 3 + 8 = 11, less than 3 for each sample" in TEXT
    assert (FIXED + EACH, FIXED + 4 * EACH) == (5, 11) and 11 / 4 < 3
    for change in ({"slow_stage": 2}, {"message": 40}):
        row = Row("1f1b", 4, 1, 8, 4, **change)
        assert row.simulated().bubble_fraction - row.bubble_estimated > Fraction(1, 100)
        assert f'"{next(iter(change))}": {next(iter(change.values()))}' in TEXT
    gap = {name: Row(name, 4, 1, 8, 4, message=40).simulated().bubble_fraction for name in ("gpipe", "1f1b")}
    assert gap["1f1b"] > gap["gpipe"], "in 1F1B most of all"


def test_the_solution_is_the_default_plan():
    source = next(cell.source for cell in CELLS if cell.grade_id == "ex6-plan-answer")
    namespace = {}
    exec(source, namespace)
    assert [Row(**row) for row in namespace["configurations"]] == list(DEFAULT)
