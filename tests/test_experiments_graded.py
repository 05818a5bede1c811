"""The experiment table where it is graded: no times of this machine, nothing written, and trusted lines beside a learner's."""

import subprocess
import sys
from pathlib import Path

import pytest

from course import experiments
from course.answers import LocalAnswer
from course.checks.experiment_table import check_table
from course.experiments import as_frame, open_records, run_experiment, trusted_records
from course.pipeline import PipelineError, close
from course.plan import COLUMNS, CONDITIONS, DEFAULT
from course.plan_rules import read_plan
from tests.experiment_lines import PLAN

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module", autouse=True)
def warm_workers():
    yield
    close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_while_it_is_graded_times_follow_the_plan_and_nothing_is_written(monkeypatch, folder, capsys):
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    table = run_experiment(PLAN)
    assert table.attrs["pacing"]["clock"] == "virtual" and not list(folder.iterdir())
    output, errors = capsys.readouterr()
    assert "because the notebook is graded or validated" in output and errors == ""


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
