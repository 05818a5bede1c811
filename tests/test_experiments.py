"""The experiment table from real runs: its columns, its files, and what becomes of it when something goes wrong."""

import csv
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from course import experiments
from course.answers import LocalAnswer
from course.checks.experiment_table import check_table
from course.experiments import run_experiment
from course.lessons.experiment_table import shortest, show_table
from course.pipeline import PipelineError
from course.plan import COLUMNS, CONDITIONS, DEFAULT, Row
from course.plan_rules import read_plan
from tests.experiment_lines import PLAN, row, virtual

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.usefixtures("warm_workers", "folder")


def test_a_table_has_its_columns_and_what_is_exact_is_exact(folder, capsys):
    table = virtual()
    assert list(table.columns) == [*COLUMNS, *CONDITIONS] and list(table.index) == [1, 2, 3, 4, 5]
    for number, line in table.iterrows():
        plan = read_plan(PLAN).rows[number]
        assert line.global_batch == 8 and line.bubble_estimated == float(plan.bubble_estimated)
        timeline = plan.simulated()
        assert line.bubble_measured == pytest.approx(float(timeline.bubble_fraction), abs=1e-9)
        assert line.step_time_predicted == pytest.approx(float(timeline.makespan) * experiments.PLANNED)
        assert line.step_time_measured == pytest.approx(line.step_time_predicted), "what an all-reduce takes is no plan's"
    assert table.peak_activation_bytes[2] > table.peak_activation_bytes[1] == table.peak_activation_bytes[5]
    assert check_table(LocalAnswer(table), LocalAnswer(PLAN)).points == 6
    output, errors = capsys.readouterr()
    assert errors == "" and "5/5" in output and "5 of 5 rows are in the table" in output and "not measured" in output


def test_it_is_saved_as_csv_beside_machine_versions_and_pacing(folder):
    table = virtual(name="mine")
    with open("mine.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [list(found) for found in rows] == [[*COLUMNS, *CONDITIONS]] * 5
    assert [float(found["bubble_measured"]) for found in rows] == list(table.bubble_measured)
    about = json.loads(Path("mine.json").read_text())
    assert set(about["machine"]) == {"cores", "system"} and about["versions"]["torch"].startswith("2.13")
    assert about["pacing"]["clock"] == "virtual" and about["slot_seconds"] == experiments.PLANNED and len(about["rows"]) == 5
    assert {key: table.attrs[key] for key in ("machine", "versions", "pacing", "slot_seconds")} == {
        key: about[key] for key in ("machine", "versions", "pacing", "slot_seconds")}
    assert sorted(path.name for path in folder.iterdir()) == ["mine.csv", "mine.json"]
    assert check_table(LocalAnswer(rows), LocalAnswer(PLAN)).points == 6


def test_what_is_measured_agrees_with_the_estimate_where_the_formula_holds():
    table = run_experiment([row(micro_batches=8, micro_batch_size=1), row(slow_stage=2)])
    assert table.attrs["pacing"]["clock"] == "paced" and table.attrs["slot_seconds"] > 0
    held = json.loads(Path("experiment_table.json").read_text())["rows"]
    for line, record in zip(table.itertuples(), held.values(), strict=True):
        plan = Row(line.schedule, line.pp, line.chunks, line.micro_batches, line.micro_batch_size, line.dp, line.slow_stage,
                   layers=line.layers)
        assert record["max_gradient_difference"] <= 1e-6
        off = abs(line.bubble_measured - float(plan.simulated().bubble_fraction))
        assert off <= 0.01 or record["overruns"], "a busy machine is said to be one"
        assert line.step_time_predicted == pytest.approx(float(plan.simulated().makespan) * table.attrs["slot_seconds"])
    assert table.bubble_measured[2] - table.bubble_estimated[2] > 0.05


def test_the_default_plan_is_within_a_point_of_its_estimate_but_for_the_row_that_shall_part():
    begin = time.monotonic()
    table = run_experiment(DEFAULT)
    assert len(table) == len(DEFAULT) and time.monotonic() - begin < 1200, "a guard: two minutes on two cores, ten times"
    records = json.loads(Path("experiment_table.json").read_text())["rows"]
    for plan, (_, line) in zip(DEFAULT, table.iterrows(), strict=True):
        off = line.bubble_measured - line.bubble_estimated
        assert off > 0.01 if plan.parts else abs(off) <= 0.01 or records[plan.key]["overruns"], "a busy machine is said to be one"
    assert check_table(LocalAnswer(table), LocalAnswer([plan.as_dict() for plan in DEFAULT])).points == 6


def test_a_row_that_fails_is_named_and_the_others_go_on(runs, capsys):
    seen, failing = runs
    failing[2] = PipelineError("rank 1 failed at 1F0: no", 1, "1F0", "no", "a traceback")
    table = virtual()
    assert list(table.schedule) == ["1f1b", "interleaved_1f1b", "1f1b", "1f1b"] and list(table.index) == [1, 3, 4, 5]
    assert [line.split()[0] for line in repr(show_table(table)).splitlines()[1:5]] == ["1", "3", "4", "5"], "the plan's numbers"
    assert shortest(table) is ... and shortest(table, "pp") is ..., "the row that is missing may be the shortest"
    output = capsys.readouterr().out
    assert "Row 2 (gpipe, pp 2, m 4, b 2) failed: rank 1 failed at 1F0: no; it is not in the table." in output
    assert "a traceback" not in output and "4 of 5 rows are in the table" in output
    failing.clear()
    assert len(virtual()) == 5 and len(seen) == 6 and shortest(virtual()) in range(1, 6)


def test_where_no_row_could_be_run_there_is_no_table(runs, capsys):
    runs[1].update(dict.fromkeys(range(1, 6), MemoryError("no room")))
    assert virtual() is None
    assert capsys.readouterr().out.count("failed: no room") == 5 and not Path("experiment_table.csv").exists()


def test_an_earlier_measurement_stays_when_the_next_fails(runs, capsys):
    before = virtual(PLAN[:2])
    runs[1][3] = PipelineError("it fell", 0, None, "it fell")
    after = virtual(PLAN[:2], again=[1])
    assert after.equals(before) and "its earlier measurement stays in the table" in capsys.readouterr().out


def test_only_what_has_changed_is_run_again(runs):
    seen, _ = runs
    virtual()
    changed = [*PLAN[:2], row(schedule="looped_bfs", chunks=2), *PLAN[3:]]
    del seen[:]
    table = virtual(changed)
    assert seen == [("looped_bfs", 2, 4, 1)] and list(table.schedule)[2] == "looped_bfs"
    virtual(PLAN[::-1])
    assert len(seen) == 1, "the row that was taken out is still kept, and their order does not matter"
    virtual(again=[2, 4])
    assert seen[1:] == [("gpipe", 2, 4, 1), ("1f1b", 1, 2, 2)]
    virtual(again=2)
    assert seen[3:] == [("gpipe", 2, 4, 1)]
    virtual(again=True)
    assert len(seen) == 4 + 5


def test_a_clock_that_a_table_cannot_have_is_refused():
    with pytest.raises(ValueError, match="clock = 'real': 'paced' or 'virtual'"):
        run_experiment(PLAN, clock="real")


@pytest.mark.parametrize("broken", [row(micro_batches=3), row(pp="two"), row(layers=8), 7])
def test_a_plan_with_a_broken_rule_runs_nothing_and_loses_nothing(broken, runs, capsys):
    seen, _ = runs
    virtual(PLAN[:2])
    before = Path("experiment_table.json").read_bytes()
    capsys.readouterr()
    assert virtual([*PLAN[:2], broken]) is None and len(seen) == 2
    output = capsys.readouterr().out
    assert output.startswith("Row 3: ") and "what was finished before is still kept" in output
    assert Path("experiment_table.json").read_bytes() == before


@pytest.mark.parametrize("odd", [..., None, 5, "rows", [], [...], list, {"a": 1}, object()])
def test_what_is_no_plan_is_said_and_nothing_is_run(odd, capsys, folder):
    assert run_experiment(odd) is None
    assert "Nothing was run" in capsys.readouterr().out and not list(folder.iterdir())


def test_a_folder_that_cannot_be_written_is_said_and_the_table_is_there(runs, folder, capsys):
    seen, _ = runs
    nowhere = folder / "nowhere"
    table = virtual(PLAN[:2], folder=nowhere)
    assert len(table) == 2
    output = capsys.readouterr().out
    assert "could not be written (No such file or directory). The table is there all the same" in output
    assert virtual(PLAN[:2], folder=nowhere).equals(table) and len(seen) == 2, "kept in memory"
    nowhere.mkdir()
    capsys.readouterr()
    assert virtual(PLAN[:2], folder=nowhere).equals(table) and "could not be written" not in capsys.readouterr().out
    assert len(json.loads((nowhere / "experiment_table.json").read_text())["rows"]) == 2 and len(seen) == 2
    assert virtual(PLAN[:3], folder=nowhere) is not None and len(seen) == 3
    assert len(json.loads((nowhere / "experiment_table.json").read_text())["rows"]) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX's")
def test_a_full_disk_is_said_and_the_table_is_there(folder):
    code = f"""
    import resource, signal
    from course.experiments import run_experiment
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    table = run_experiment({PLAN[:2]}, clock="virtual")
    print(table.shape)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "could not be written (File too large)" in done.stdout and done.stdout.splitlines()[-1] == "(2, 15)"
    assert not list(folder.iterdir()), "no half of a file stays"


def test_a_file_of_something_else_is_put_aside_and_never_lost(capsys):
    path = Path("experiment_table.json")
    for number, content in enumerate(("no JSON at all", "[]", '{"what": "my own file"}', '{"rows": 3}'), 1):
        path.write_text(content)
        assert len(virtual(PLAN[:1])) == 1
        aside = Path(f"experiment_table.earlier{number if number > 1 else ''}.json")
        assert aside.read_text() == content
        assert f"was put aside as {aside.name}, because it holds no rows of a table" in capsys.readouterr().out


@pytest.mark.parametrize("change", [{"machine": {"cores": 96, "system": "Linux"}}, {"versions": {"torch": "1.0"}},
                                    {"pacing": {"clock": "paced"}}])
def test_rows_of_another_machine_version_or_pacing_do_not_stand_in_this_table(change, runs, capsys):
    seen, _ = runs
    virtual(PLAN[:1])
    path = Path("experiment_table.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    virtual(PLAN[:1])
    assert len(seen) == 2 and f"its rows were run with other {next(iter(change))}" in capsys.readouterr().out
    assert Path("experiment_table.earlier.json").exists()


def test_a_record_that_is_not_whole_is_run_again(runs):
    seen, _ = runs
    virtual(PLAN[:3])
    path = Path("experiment_table.json")
    content = json.loads(path.read_text())
    first, second, third = content["rows"].values()
    first["bubble_measured"], second["step_time_measured"], third["overruns"] = -7.5, None, "<b>x</b>"
    path.write_text("\ufeff" + json.dumps(content), encoding="utf-8")
    virtual(PLAN[:3])
    assert len(seen) == 3 + 3


def test_a_row_that_needs_longer_slots_makes_all_rows_run_anew(monkeypatch, runs):
    seen, _ = runs
    needs = {"gpipe": 0.002}
    monkeypatch.setattr(experiments, "SOON", 1)
    monkeypatch.setattr(experiments, "keepable_slot", lambda schedule, *_: needs.get(schedule.name, 0.0005))
    first = run_experiment(PLAN[:1])
    assert first.attrs["slot_seconds"] == pytest.approx(experiments.MOST_ROOM * 0.0005), "a short table can have long slots"
    del seen[:]
    second = run_experiment([*PLAN[:1], row(micro_batches=2, micro_batch_size=4)])
    assert second.attrs["slot_seconds"] == first.attrs["slot_seconds"] and set(seen) == {("1f1b", 2, 2, 1)}
    del seen[:]
    both = run_experiment(PLAN[:2])
    assert experiments.ROOM * 0.002 <= both.attrs["slot_seconds"] < experiments.MOST_ROOM * 0.002
    assert set(seen) == {("1f1b", 2, 4, 1), ("gpipe", 2, 4, 1)}
    assert both.step_time_predicted[1] == both.step_time_predicted[2] > 2 * first.step_time_predicted[1]
