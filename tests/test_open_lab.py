"""The open lab without a browser: faults, names, waits, floors and places of a schedule; its sliders; files to take along."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from ipywidgets.widgets.widget import _instances as living

from course import Costs, Schedule, Timeline, schedules, simulate
from course import notebook as nb
from course.__main__ import main
from course.lab import timed
from course.lessons.open_lab import export, reachable, read_schedule, run_for_real
from course.pipeline import Sizes
from course.predictions import PREDICTIONS
from course.real_run import no_run, run_subject
from course.schedules import SCHEDULES
from course.waiting import CHOICE, waits
from course.widgets.lab_exploration import explored_lab
from course.widgets.lab_explorer import lab_answer, lab_explorer
from course.widgets.lab_setting import LabSetting, lab_sliders, lab_subject, read_lab_setting
from course.widgets.still import NEEDS_KERNEL
from course.words import number

SOURCE = (Path(__file__).parents[1] / "solutions" / "pipeline_parallelism" / "7_open_lab.py").read_text(encoding="utf-8")
GAPS = "F0 F1 .  .  B0 F2 B1 .  .  B2\n.  F0 .  B0 F1 B1 .  F2 B2 ."
NO_WAY = "F0 B0 F1 B1\nF0 F1 B0 B1"
WANTED = {"forward": 1, "input_grad": 1, "weight_grad": 1, "latency": 0, "memory": False, "grid": False}
EVEN = Costs(1, input_grad=1, weight_grad=1)
TINY = Sizes(hidden=8, heads=2, sequence=4, micro_batch_size=2, layers=4)


def looked_at(form, **times):
    subject = lab_subject(read_schedule(form))
    return explored_lab(read_lab_setting(**{**subject.setting().wanted(), "grid": True, **times}), subject)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_known_schedule_has_its_name_its_numbers_and_its_place(name):
    schedule = SCHEDULES[name].make(4, 8, SCHEDULES[name].chunks or 2)
    found, timeline = looked_at(schedule.to_csv()), simulate(schedule, EVEN if schedule.split else Costs(1))
    assert found.remarks[0].startswith(f"Recognised: this is {SCHEDULES[name].title}, with 4 ")
    assert f"bubble, idle over total: {SCHEDULES[name].title}: {timeline.bubble_fraction} = " in "\n".join(found.lines)
    assert "yours *" in found.figure.text and "proven floor of this placement" in found.figure.text
    assert found.summary.startswith(f"{SCHEDULES[name].title}: ")


def test_every_idle_cell_of_a_drawing_is_explained_also_those_that_nothing_forces():
    found = looked_at(GAPS)
    drawn, simulated, _ = found.figure.text.split("\n\n")
    assert drawn.count("idle, ") == 6 and "nothing stops B0 on stage 1 from slot 2 on" in drawn and "drain: stage 1" in drawn
    assert "nothing stops" not in simulated and "1F1B, each operation as early as it can: F 1, B = I + W = 1" in simulated
    for sentence in ("stage 0 waits for B0 of stage 1, which ends at slot 4", "nothing stops F2 on stage 1 from slot 6 on"):
        assert sentence in found.figure.svg  # on hover
    assert "stage 0: an input is not done: 2; drain: nothing left: 0" in found.lines
    assert sum(wait.end - wait.start for wait in waits(read_schedule(GAPS)) if wait.reason == CHOICE) == PREDICTIONS[
        "cells-left-open"].actual
    assert GAPS.splitlines() == re.search('first_drawing = """\n(.*?)\n"""', SOURCE, re.DOTALL)[1].splitlines()


def test_a_message_on_its_way_is_a_reason_of_its_own():
    text = looked_at(GAPS, latency=1).figure.text
    assert "waits for the message of F0 from stage 0, which arrives at slot 2" in text


def test_a_drawing_is_judged_by_its_slots_and_its_order_goes_on():
    found = looked_at("F0 F1 .  B0 B1\nF0 F1 B0 B1 .")
    assert any("F0 on stage 1 starts at slot 0, but needs F0 of stage 0, which ends at" in remark for remark in found.remarks)
    assert found.remarks[0].startswith("Recognised: this is GPipe")


def test_a_deadlock_is_drawn_with_its_cycle_and_the_known_schedules_stay():
    found = looked_at(NO_WAY)
    stands = "stage 0 is at B0 and waits for B0 of stage 1; stage 1 is at F1 and waits for F1 of stage 0"
    assert found.remarks == (f"Deadlock: {stands}.",)
    assert "stage 1 is at F1 and waits for F1 of stage 0" in found.figure.text and "GPipe" in found.figure.text
    assert "yours" not in found.figure.text and found.lines == () and "Deadlock" in found.summary


def test_of_many_faults_the_first_of_each_kind_is_said():
    found = looked_at("0F0 1F1 1F0 0F1\n2F0 0F0")
    assert len(found.remarks) == 5 and found.remarks[-1] == "And 6 more faults."
    assert {remark.split(" ")[2] for remark in found.remarks[:4]} >= {"missing", "there"}
    assert any("comes before" in remark for remark in found.remarks)


def test_the_numbers_beside_what_is_proven():
    lines = looked_at(schedules.one_f_one_b(4, 8)).lines
    assert lines[0] == "step: 1F1B: 22 slots; proven floor of this placement: 22 slots: no shorter one is possible"
    assert lines[1] == "most held on a rank: 1F1B: 4 micro-batches; proven floor of this placement: 4 in a step of this length"
    assert "24 slots: 12 above it" not in lines[0]
    waves = looked_at("\n".join(["F0 F1 B0 B1 F2 F3 B2 B3"] * 2)).lines[0]
    assert waves == "step: yours: 12 slots; proven floor of this placement: 10 slots: 2 above it"


@pytest.mark.parametrize(("form", "times"), [
    (schedules.gpipe(2, 2), (1, Fraction(1, 2), Fraction(1, 2))), (schedules.zb_h1(2, 2), (1, 1, 1)),
    ("F0 ~ .  .  B0 ~ ~\n.  .  F0 B0 . . .", (1, Fraction(1, 2), Fraction(1, 2))),  # of several lengths: as usual
    ("F0 ~ .  .  .  .  .  B0 ~ ~\n.  .  F0 ~ B0 ~ ~ . . .", (2, Fraction(3, 2), Fraction(3, 2))),
    ("F0 .  .  .  .  B0\n.  F0 ~ ~ B0 .", (1, Fraction(1, 2), Fraction(1, 2))), (NO_WAY, (1, Fraction(1, 2), Fraction(1, 2))),
])
def test_the_sliders_begin_with_the_times_of_the_drawing(form, times):
    setting = lab_subject(read_schedule(form)).setting()
    assert (setting.forward, setting.input_grad, setting.weight_grad) == times
    for name, _, least, most, values in lab_sliders(setting):
        assert setting.wanted()[name] in [value for value, _ in values] and (least, most) == (0, len(values) - 1)


@pytest.mark.parametrize("form", [schedules.zb_v(4, 8), NO_WAY, GAPS])
@pytest.mark.parametrize("wanted", [
    {}, {"turn": 1}, {"forward": 0}, {"forward": -1}, {"latency": -0.5}, {"forward": "x"}, {"forward": None}, {"forward": True},
    {"forward": float("nan")}, {"forward": float("inf")}, {"latency": 10**9}, {"more": 1},
    {"forward": 4, "memory": 1, "grid": 1}])
def test_nothing_that_a_page_could_send_raises(form, wanted):
    shown = lab_answer({**WANTED, **wanted}, lab_subject(read_schedule(form)))
    assert (shown["picture"].startswith("<svg") or shown["remarks"]) and shown["turn"] == wanted.get("turn")


def test_a_moved_slider_changes_what_is_shown():
    made = lab_explorer(schedules.one_f_one_b(4, 32), forward=1, input_grad=1, weight_grad=1, latency=None)
    assert "step, slots" in made.shown["picture"] and "105 slots" in made.shown["numbers"]
    made.wanted = {**made.wanted, "latency": 0.5, "memory": True, "grid": True, "turn": 1}
    assert "131 slots" in made.shown["numbers"] and made.shown["turn"] == 1
    assert "micro-batches held" in made.shown["picture"] and "GPipe" in made.shown["grid"]


def test_what_cannot_be_looked_at_is_one_sentence_and_a_reason_stays_one(monkeypatch):
    for given, words in (((...,), "not answered yet"), (("F0 Q\nF0",), "`Q` is not a cell"), (([1],), "is no schedule")):
        said = nb.open_lab(*given)
        assert repr(said).startswith("Nothing to explore: ") and words in repr(said)
    assert "latency = -1" in repr(nb.open_lab(GAPS, latency=-1))
    reason = no_run("There was no run.")
    assert nb.open_lab(reason) is reason and export(reason) is reason
    assert repr(read_schedule("F0 Q\nF0")).startswith("`read_schedule`: Row 0, slot 1: `Q` is not a cell")


def test_while_graded_there_is_a_picture_no_widget_and_no_file(monkeypatch, folder):
    monkeypatch.setenv("NBGRADER_EXECUTION", "1")
    before = len(living)
    bundle = nb.open_lab(GAPS)._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and NEEDS_KERNEL in bundle["text/plain"] and "idle, slot 2 to 3" in bundle["text/plain"]
    assert "graded" in repr(export(GAPS)) and not list(folder.iterdir()) and len(living) == before


def test_a_measured_step_is_explained_and_placed(warm_workers):
    ran = run_subject(schedules.gpipe(2, 2), 2, 2, clock="virtual", sizes=TINY, steps=1)
    subject = lab_subject(read_schedule(ran))
    measured = lab_subject(Timeline(subject.schedule, *(tuple(tuple(float(time) for time in row) for row in rows)
                                                        for rows in (subject.drawing.starts, subject.drawing.ends))))
    found = explored_lab(measured.setting(), measured)
    assert measured.measured and "As it was measured" in found.figure.text and "measured *" in found.figure.text
    assert "Recognised: this is GPipe" in found.remarks[0]


def test_ten_thousand_operations_stay_a_picture_of_bearable_size():
    schedule = schedules.one_f_one_b(8, 625)
    subject = lab_subject(schedule)
    assert len(explored_lab(LabSetting(), subject).figure.svg) < 1_000_000
    stuck = lab_subject(Schedule(tuple(rank[::-1] for rank in schedule.ranks), schedule.stage_to_rank, 625))
    assert len(explored_lab(LabSetting(), stuck).figure.svg) < 1_000_000


def test_files_and_a_line_that_come_back(folder):
    schedule = schedules.zb_v(2, 3)
    text = repr(export(schedule, "zb"))
    assert "`pp1/zb_v/p2/m3/end`" in text and sorted(path.name for path in folder.iterdir()) == ["zb.csv", "zb.trace.json"]
    assert read_schedule("zb.csv").ranks == schedule.ranks == read_schedule("pp1/zb_v/p2/m3/end").ranks
    events = json.loads(Path("zb.trace.json").read_text())["traceEvents"]
    simulated = simulate(schedule, Costs(Fraction(1, 2), input_grad=Fraction(1, 2), weight_grad=Fraction(1, 2)))
    assert sorted((event["tid"], event["ts"]) for event in events if event["ph"] == "X") == sorted(
        (rank, 1000 * time) for rank, row in enumerate(simulated.starts) for time in row)
    export(GAPS, "drawn")
    events = json.loads(Path("drawn.trace.json").read_text())["traceEvents"]
    assert max(event["ts"] + event["dur"] for event in events if event["ph"] == "X") == 10_000
    assert "No trace: deadlock" in repr(export(NO_WAY, "stuck")) and not Path("stuck.trace.json").exists()
    assert read_schedule("stuck.csv") == read_schedule(NO_WAY)


def test_a_file_that_is_no_export_is_not_written_over(folder):
    for name in ("notes.csv", "notes.trace.json"):
        Path(name).write_text("precious")
        assert f"{name} is there already" in repr(export(GAPS, "notes")) and Path(name).read_text() == "precious"
        Path(name).unlink()
    export(GAPS, "notes")
    export(schedules.gpipe(2, 2), "notes")
    assert read_schedule("notes.csv").ranks == schedules.gpipe(2, 2).ranks
    assert "course run" in repr(export(GAPS, "notes")) and "course run" not in repr(export(NO_WAY, "notes"))


def test_whatever_can_be_read_can_be_run_and_why_not_is_its_own_reason(folder, warm_workers):
    export(schedules.gpipe(2, 2), "mine")
    early = "F0 F1 B0 B1\n.  F0 B0 F1 B1"  # in this order it runs, in these slots it cannot
    for form in ("F0 F1 . . B0 B1\n. F0 F1 B0 B1 .", "pp1/gpipe/p2/m2/end", "mine.csv", early):
        found = read_schedule(form)
        ran = run_for_real(form, clock="virtual", steps=1, sizes=TINY)
        assert ran.run.schedule.ranks == getattr(found, "schedule", found).ranks, form
    assert "deadlock" in repr(run_for_real(NO_WAY)) and "Nothing to run yet: " in repr(run_for_real("what.csv"))


@pytest.mark.parametrize("name", ["zb_h1", "zb_v", "interleaved_1f1b"])
def test_the_lab_and_a_run_of_it_take_as_long(name, warm_workers):
    schedule = SCHEDULES[name].make(2, 4, SCHEDULES[name].chunks or 2)
    ran = run_for_real(schedule, clock="virtual", steps=1, sizes=TINY)
    subject = lab_subject(schedule)
    step = timed(schedule, subject.setting().costs).makespan
    assert ran.run.predicted.makespan == step and f"{number(step)} slots" in repr(nb.open_lab(schedule))
    named = run_for_real(schedule, costs=Costs(2, 4), clock="virtual", steps=1, sizes=TINY)
    assert named.run.predicted.makespan == simulate(schedule, Costs(2, 4)).makespan, "times that are named are taken"


def test_what_is_not_finished_is_exported_and_said_to_be_so(folder):
    said = repr(export("F0 F1", "half"))
    assert "It cannot be run as it is: B0 is missing on stage 0." in said and "course run" not in said
    assert read_schedule("half.csv").ranks == read_schedule("F0 F1").schedule.ranks


def test_a_run_is_explained_with_the_times_that_it_was_emulated_with(warm_workers):
    costs = Costs(1, 2, latency=Fraction(1, 2))
    ran = run_for_real(schedules.one_f_one_b(2, 3), costs=costs, clock="virtual", steps=1, sizes=TINY)
    said = repr(nb.open_lab(ran))
    assert "F 1, B = I + W = 2, latency 0.5" in said and "the message of F0" in said and "nothing stops" not in said


@pytest.mark.parametrize("name", ["../x", "a/b", "", "x" * 61, 3, "a.csv"])
def test_a_name_that_is_none_is_refused_and_nothing_is_written(name, folder):
    assert f"name = {name!r}" in repr(export(GAPS, name)) and not list(folder.iterdir())


def test_where_nothing_can_be_written_the_line_is_still_there(folder, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("course.lessons.open_lab.write_atomically", full)
    said = repr(export(schedules.gpipe(2, 2)))
    assert "my_schedule.csv could not be written (No space left on device)" in said and "pp1/gpipe/p2/m2/end" in said


def test_pytorchs_engine_runs_what_was_exported(folder, capsys, warm_workers):
    export("F0 .  F1 .  I1 W1 I0 W0\n.  F0 .  F1 I1 W1 I0 W0 .", "mine")
    assert main(["run", "mine.csv", "--steps", "1", "--engine", "torch", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["engine"] == "torch" and record["max_gradient_difference"] <= 1e-6


def test_what_can_be_reached_beside_what_is_proven():
    rows = [line.split() for line in repr(reachable(3, 6)).splitlines()[2:]]
    assert [row[:3] for row in rows] == [["1", "36", "36"], ["2", "18", "20"], ["3", "16", "16"]]  # as the notebook says it
    for memory, _, step, *_, line in rows:
        timeline = simulate(read_schedule(line))
        assert (timeline.makespan, max(timeline.peak_activations)) == (int(step), int(memory))
    assert not any(word in repr(reachable(1, 1)) for word in ("v=2", "ZB-", "DualPipe"))
    assert "at most 32 in all are searched" in repr(reachable(8, 64)) and "ranks = 0" in repr(reachable(0, 1))


def test_the_lab_leaves_torch_and_matplotlib_out():
    code = "import sys, course.exploring; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False False", "")
