"""The experiment table where it is graded: no times of this machine, nothing written, and trusted lines beside a learner's."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from course import experiments, given_runs
from course.answers import LocalAnswer
from course.checks.experiment_conclusions import check_conclusions
from course.checks.experiment_table import check_table
from course.experiments import WORKED_NAME, as_frame, open_records, run_experiment, trusted_records
from course.pipeline import PipelineError
from course.plan import COLUMNS, CONDITIONS, DEFAULT, WORKED
from course.plan_rules import read_plan
from tests.experiment_lines import PLAN, noisy
from tools.sources import read_cells

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.usefixtures("warm_workers", "folder")


def test_while_it_is_graded_times_follow_the_plan_and_nothing_is_written(monkeypatch, folder, capsys):
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    table = run_experiment(PLAN)
    assert table.attrs["pacing"]["clock"] == "virtual" and not list(folder.iterdir())
    output, errors = capsys.readouterr()
    assert "because the notebook is graded or validated" in output and errors == ""


def test_rows_that_are_yet_to_be_given_are_not_called_failed(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    lines = trusted_records(read_plan(PLAN[:2]).rows.values())
    monkeypatch.setattr(given_runs, "_given", {})
    monkeypatch.setattr(given_runs, "_asked", {})
    assert run_experiment(PLAN[:2]) is None and len(given_runs.asked()) == 2
    assert capsys.readouterr().out.strip() == ""
    given_runs.give(lines)
    assert len(run_experiment(PLAN[:2])) == 2
    said = capsys.readouterr().out
    assert "follow the plan" in said and "failed" not in said and "\r" not in said


def test_the_worked_example_is_not_run_while_it_is_graded_and_a_learners_own_table_is(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    rows = [row.as_dict() for row in WORKED]
    monkeypatch.setattr(experiments, "run", lambda *_, **__: pytest.fail("it was run"))
    assert run_experiment(rows, name=WORKED_NAME) is None
    assert "The worked example is not run" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert len(run_experiment(PLAN[:2], name=WORKED_NAME)) == 2, "who copies the call has a table all the same"


def test_the_worked_example_is_what_the_notebook_runs():
    cell = next(cell.source for cell in read_cells(ROOT / "solutions/pipeline_parallelism/6_experiment_table.py")
                if WORKED_NAME in cell.source)
    rows = ast.literal_eval(cell[cell.index("["):cell.index("]") + 1])
    assert tuple(read_plan(rows).rows.values()) == WORKED


def test_cut_off_while_it_is_graded_the_finished_rows_are_the_table(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    real, seen = experiments.run, []

    def run(*arguments, **options):
        seen.append(arguments)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(experiments, "run", run)
    table = run_experiment(PLAN)
    assert len(table) == 3 and "The time for this cell was used up." in capsys.readouterr().out
    found = check_table(LocalAnswer(table), LocalAnswer(PLAN))
    assert "row-missing" in found.codes and 2 < found.points < 4


def test_what_was_measured_and_what_is_graded_lead_to_the_same_conclusions(monkeypatch):
    """Answers that are read off a table with noise, taken literally, against a graded run of the same plan."""
    noise = {2: 0.4, 4: 0.3}
    graded = [LocalAnswer(trusted_records(DEFAULT)), LocalAnswer([row.as_dict() for row in DEFAULT])]
    measured = [LocalAnswer(noisy(noise)), graded[1]]
    frame = as_frame(noisy(noise), open_records(None, "virtual"))
    gap = (frame.bubble_measured - frame.bubble_estimated).abs()
    devices = frame.pp * frame.dp
    read = {"a": frame.step_time_measured.idxmin(), "b": frame.peak_activation_bytes.idxmax(),
            "c": frame.bubble_measured.idxmin(), "d": (devices * frame.step_time_measured).idxmin(), "e": gap.idxmax(),
            "f": "noise", "g": False, "h": bool((gap[frame.slow_stage == 1] <= 0.01).all()), "i": False,
            "j": bool((frame.step_time_measured < 1.05 * frame.step_time_predicted).all())}
    here, there = (check_conclusions(LocalAnswer(read), *answers) for answers in (measured, graded))
    assert here.points == there.points < 8 and "busy-machine" in here.codes and "busy-machine" not in there.codes
    assert [step.share for step in here.steps] == [step.share for step in there.steps]


def test_trusted_records_are_a_table_that_a_learners_is_held_against():
    rows = list(read_plan(PLAN).rows.values())
    trusted = trusted_records([*rows, rows[0]])
    assert len(trusted) == len(PLAN) + 1 and trusted[-1] == trusted[0], "a line for each, though one is run once"
    table = run_experiment(PLAN, clock="virtual").to_dict("records")
    assert check_table(LocalAnswer(table), LocalAnswer(PLAN), trusted).points == 6
    table[1]["peak_activation_bytes"] += 64
    found = check_table(LocalAnswer(table), LocalAnswer(PLAN), trusted)
    assert found.points == 4 and "trusted-peak" in found.codes


def test_a_trusted_run_that_fails_raises(monkeypatch):
    monkeypatch.setattr(experiments, "run", lambda *_, **__: (_ for _ in ()).throw(PipelineError("gone", None, None, "gone")))
    with pytest.raises(PipelineError, match=r"row 1 \(1f1b, pp 2, m 8, b 4\): gone"):
        trusted_records(DEFAULT[:1])


def test_a_frame_of_no_rows_has_its_columns():
    records = open_records(None, "virtual")
    assert list(as_frame([], records).columns) == [*COLUMNS, *CONDITIONS]


def test_importing_it_leaves_torch_pandas_and_tqdm_out():
    code = "import sys, course.experiments; print({'torch', 'pandas', 'tqdm', 'matplotlib', 'IPython'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"
