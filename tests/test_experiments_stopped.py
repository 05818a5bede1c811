"""The experiment table stopped in the middle, run again in part, and its options: nothing that was finished is lost."""

import json
from pathlib import Path

import numpy
import pytest

from course import experiments
from course.answers import Interrupted
from course.experiments import run_experiment
from tests.experiment_lines import PLAN, virtual

pytestmark = pytest.mark.usefixtures("warm_workers", "folder")


def test_stopped_it_keeps_what_is_finished_and_goes_on_from_there(runs, capsys):
    seen, failing = runs
    failing[3] = KeyboardInterrupt()
    with pytest.raises(Interrupted, match=r"2 of 5 rows are finished and kept in experiment_table.json. Run the cell again"):
        virtual()
    assert len(json.loads(Path("experiment_table.json").read_text())["rows"]) == 2
    assert len(Path("experiment_table.csv").read_text().splitlines()) == 1 + 2
    del seen[:], failing[3]
    table = virtual()
    assert len(table) == 5 and len(seen) == 3 and "2 of 5 rows were finished before" in capsys.readouterr().out
    assert virtual().equals(table) and len(seen) == 3


def test_stopped_while_it_looks_for_the_slot_nothing_is_lost(runs, monkeypatch):
    monkeypatch.setattr(experiments, "keepable_slot", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(Interrupted, match="0 of 5 rows are finished"):
        run_experiment(PLAN)
    assert runs[0] == []


@pytest.fixture
def slots(monkeypatch):
    """For which schedules it was looked how long a slot must be, and after how many it is stopped; rows are not waited for."""
    seen, stop, real = [], [None], experiments.run

    def keepable_slot(schedule, *_):
        if len(seen) == stop[0]:
            raise KeyboardInterrupt
        seen.append((schedule.name, schedule.micro_batches))
        return 0.0005

    monkeypatch.setattr(experiments, "keepable_slot", keepable_slot)
    monkeypatch.setattr(experiments, "run", lambda *given, **options: real(*given, **options | {"clock": "virtual"}))
    return seen, stop


def test_stopped_while_it_looks_for_the_slot_what_it_found_is_kept_and_used(slots):
    seen, stop = slots
    stop[0] = 2
    with pytest.raises(Interrupted, match=r"0 of 5 rows .* a slot must be was found out for 2 of 5; that is kept too"):
        run_experiment(PLAN)
    assert len(json.loads(Path("experiment_table.json").read_text())["keepable"]) == 2
    stop[0] = None
    assert len(run_experiment(PLAN)) == 5 and len(seen) == 5, "each once"


def test_stopped_while_all_is_looked_at_anew_the_earlier_table_stays(slots):
    seen, stop = slots
    before = run_experiment(PLAN)
    stop[0] = len(seen) + 2
    with pytest.raises(Interrupted, match=r"5 of 5 rows .* Rows 1, 2, 3, 4, 5 were not measured anew: .* stay. Run the cell"):
        run_experiment(PLAN, again=True)
    stop[0] = None
    assert run_experiment(PLAN).equals(before) and len(seen) == 5 + 2


def test_stopped_in_a_row_that_is_measured_anew_its_earlier_measurement_stays(runs):
    before = virtual()
    runs[1][len(runs[0]) + 1] = KeyboardInterrupt()
    with pytest.raises(Interrupted, match=r"5 of 5 rows .* Row 4 was not measured anew: the earlier measurement stays. Run the"):
        virtual(again=[4])
    assert virtual().equals(before)
    runs[1][len(runs[0]) + 2] = KeyboardInterrupt()
    with pytest.raises(Interrupted, match="Row 4 was not measured anew"):
        virtual(again=[2, 4])


@pytest.mark.parametrize(("again", "said"), [(9, "no row 9"), ([1, 9, 0], "no row 9, 0"), ("4", "no row '4'"), (None, ""),
                                             (numpy.int64(2), ""), ({1, 2}, ""), (2.5, "no row 2.5")])
def test_a_row_to_run_again_that_is_not_there_is_said(again, said, runs, capsys):
    virtual(PLAN[:2])
    capsys.readouterr()
    assert len(virtual(PLAN[:2], again=again)) == 2
    output = capsys.readouterr().out
    assert f"again: there is {said}; the rows are 1 to 2." in output if said else "again:" not in output


@pytest.mark.parametrize("name", ["", " ", "..", "../x", "a/b", "a\\b", None, 7, "a\0b"])
def test_a_name_that_no_file_in_this_folder_can_have_is_refused(name, runs, folder):
    with pytest.raises(ValueError, match="a file's name without a folder is needed, such as 'experiment_table'"):
        virtual(name=name)
    assert runs[0] == [] and not list(folder.iterdir())


def test_a_row_of_a_busy_machine_is_named_after_the_run(monkeypatch, capsys):
    real = experiments._measured

    def measured(row, records):
        record = real(row, records)
        return record | {"bubble_measured": record["bubble_measured"] + 0.3} if row.schedule == "gpipe" else record

    monkeypatch.setattr(experiments, "_measured", measured)
    virtual()
    output = capsys.readouterr().out
    assert "Measured while this machine was busy: row 2 (bubble 50.0% where its plan gives 20.0%). again=[2] measures" in output
